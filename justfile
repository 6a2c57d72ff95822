# Every chore by name; `just` alone lists them.

referees := "../shared/referees"

_default:
    @just --list --unsorted

# Serve the demo profile: `just serve --listen 127.0.0.1:4000`
serve *ARGS:
    cargo run -- serve --demo {{ARGS}}

# Run all tests
test *ARGS:
    cargo test --workspace {{ARGS}}

# Build all tests and the binary, without running them
build-tests:
    cargo test --workspace --no-run

# Run only the black-box tests of the binary: `just black-box versions`
black-box *ARGS:
    cargo test -p kobana --test black_box {{ARGS}}

# Format all code
fmt:
    cargo fmt --all

# Check form and lints, of the host and of the component
lint:
    cargo fmt --all --check
    cargo fmt --manifest-path examples/risk-score/Cargo.toml --check
    cargo clippy --manifest-path examples/risk-score/Cargo.toml --locked --target wasm32-wasip2 --target-dir target/examples -- -D warnings
    cargo clippy --workspace --all-targets -- -D warnings
    cargo clippy -p kobana-gateway -p kobana-edge -p kobana-conformance-extension --target wasm32-wasip2 -- -D warnings

# Build the components, the gateway and the edge adapter, and say how large they are
component:
    cargo build -p kobana-gateway -p kobana-edge --target wasm32-wasip2 --profile component
    @wc -c target/wasm32-wasip2/component/kobana_gateway.wasm target/wasm32-wasip2/component/kobana_edge.wasm

# Fetch the WIT packages of WASI anew
wit:
    sh wit/refresh.sh

# Run the referees against demo servers: `just referees --only cases`
referees *ARGS:
    cargo build -p kobana
    tests/referees/run {{referees}} target/referees {{ARGS}}

# Measure the server beside its twin without WebAssembly and other people's servers, in about 20 minutes: see docs/performance.md
[positional-arguments]
bench *ARGS: bench-build
    tests/bench/run --kobana target/release/kobana --twin target/release/kobana-twin "$@"

# The same in 2 minutes, with 32 connections: `just bench-quick --workloads ping`
[positional-arguments]
bench-quick *ARGS: bench-build
    tests/bench/run --kobana target/release/kobana --twin target/release/kobana-twin --seconds 1 --rounds 3 --connections 32 "$@"

# Measure whether a request costs more where there are 1,000 extensions, tools and workspaces instead of one, in about 10 minutes
[positional-arguments]
scale *ARGS:
    cargo build --release -p kobana
    cargo build -p kobana-card-extension --target wasm32-wasip2 --profile component
    tests/bench/scale --kobana target/release/kobana --extension target/wasm32-wasip2/component/kobana_card_extension.wasm "$@"

# Show the server's memory over 2,000,000 requests
[positional-arguments]
soak *ARGS:
    cargo build --release -p kobana
    tests/bench/soak --kobana target/release/kobana "$@"

# Measure what hostile extensions of one workspace do to the others, in about 18 minutes
[positional-arguments]
hostile *ARGS:
    cargo build -p kobana
    cargo build -p kobana-hostile-extension --target wasm32-wasip2 --profile component
    tests/bench/hostile --kobana target/debug/kobana --extension target/wasm32-wasip2/component/kobana_hostile_extension.wasm "$@"

[private]
bench-build:
    cargo build --release -p kobana -p kobana-twin

# Count the instructions of requests, and compare them with the committed numbers: `just instructions --update` writes them anew
instructions *ARGS:
    tests/instructions/run {{ARGS}}

# Check what we depend on: licences, bans, sources (needs cargo-deny)
deny:
    cargo deny check bans licenses sources

# Everything that a change has to pass
ci:
    .ci/run
