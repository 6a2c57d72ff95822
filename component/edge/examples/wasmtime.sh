#!/bin/sh
# Serves the component on Wasmtime: wasmtime.sh [COMPONENT]. What it is told comes from the environment; the key is passed on by
# name, so that it does not stand on a command line.
set -eu
: "${KOBANA_EDGE_KEY:?one of the keys in edge.keys of the host}"
address=${ADDRESS:-127.0.0.1:8080}
export KOBANA_EDGE_KEY
export KOBANA_EDGE_URL="${KOBANA_EDGE_URL:-http://127.0.0.1:3029}"
export KOBANA_RESOURCE="${KOBANA_RESOURCE:-http://$address/mcp}"
export KOBANA_AUTHORIZATION_SERVERS="${KOBANA_AUTHORIZATION_SERVERS:-http://127.0.0.1:3028}"
export KOBANA_ALLOWED_ORIGINS="${KOBANA_ALLOWED_ORIGINS:-http://$address}"
# `-S cli`: the Rust standard library in the component asks for wasi:cli. The limits: an instance serves many requests, one after
# the other, and calls for which Wasmtime has no room wait instead of getting its 500.
exec "${WASMTIME:-wasmtime}" serve -S cli --addr "$address" \
  --max-instance-reuse-count 10000 --max-concurrent-requests 128 \
  --env KOBANA_RESOURCE --env KOBANA_AUTHORIZATION_SERVERS --env KOBANA_ALLOWED_ORIGINS \
  --env KOBANA_EDGE_URL --env KOBANA_EDGE_KEY "${1:-kobana-edge.wasm}"
