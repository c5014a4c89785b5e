#!/usr/bin/env bash
# Fetches what no package of Debian has, for the peers of `make bench` in Rust, into FOLDER. Where there is no cargo or
# no network it says so, and the peer is left out. usage: crates.sh FOLDER
set -euo pipefail
folder=$1
if [ -d "$folder/chili" ]; then exit 0; fi
if ! command -v cargo >/dev/null; then
  echo "    no cargo: chili is left out"
  exit 0
fi
mkdir -p "$(dirname "$folder")"
scratch=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cp -r "$(dirname "$0")/../bench/rust/." "$scratch"
if cargo vendor --quiet --manifest-path "$scratch/chili/Cargo.toml" "$scratch/crates" >/dev/null 2>"$scratch/why"; then
  rm -rf "$folder"
  mv "$scratch/crates" "$folder"
else
  echo "    cargo cannot fetch chili, which is left out: $(grep . "$scratch/why" | tail -n 1)"
fi
