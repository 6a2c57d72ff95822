#!/bin/sh
# Re-creates wit/deps: the wasi interfaces in reach of the world `gateway`, and no more. They come from the package `wasi`,
# the last one that carries version 0.2.0: a component that imports the oldest version runs on every 0.2 runtime.
set -eu

version='0.12.1+wasi-0.2.0'
interfaces='
    cli/environment
    clocks/monotonic-clock
    http/handler http/types
    io/error io/poll io/streams
'

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

mkdir "$scratch/src"
: >"$scratch/src/lib.rs"
cat >"$scratch/Cargo.toml" <<EOF
[package]
name = "wit-refresh"
version = "0.0.0"
edition = "2024"

[dependencies]
wasi = { version = "=$version", default-features = false }

[workspace]
EOF
(cd "$scratch" && cargo vendor --quiet --versioned-dirs vendor >/dev/null)

rm -rf "$here/deps"
for interface in $interfaces; do
    package=${interface%/*}
    from="$scratch/vendor/wasi-$version/wit/deps/$interface.wit"
    mkdir -p "$here/deps/$package"
    {
        # One file of a package names it; here each does, whichever are taken.
        grep -q '^package ' "$from" || printf 'package wasi:%s@%s;\n\n' "$package" "${version#*wasi-}"
        cat "$from"
    } >"$here/deps/$interface.wit"
done
