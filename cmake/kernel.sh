#!/usr/bin/env bash
# Unpacks Debian's kernel for virtual machines, which tests/numa boots, into FOLDER; it is not installed. Where there is
# none for this computer, or no network, it says so, and the test is skipped. usage: kernel.sh FOLDER
set -euo pipefail
folder=$1
if compgen -G "$folder/boot/vmlinuz-*" >/dev/null; then exit 0; fi
if [ "$(uname -m)" != x86_64 ] || ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
  echo "    no kernel to boot for this computer: tests/numa is skipped"
  exit 0
fi
mkdir -p "$(dirname "$folder")"
scratch=$(mktemp -d "$(realpath "$folder").XXXXXX")
trap 'rm -rf "$scratch"' EXIT
# The package is only a name for the newest.
package=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)$/\1/p' |
  head -n 1)
if [ -n "$package" ] && (cd "$scratch" && apt-get download -qq "$package") >"$scratch/why" 2>&1 &&
  dpkg-deb --fsys-tarfile "$scratch"/*.deb | tar -x -C "$scratch" --wildcards './boot/vmlinuz-*' 2>>"$scratch/why"; then
  mkdir -p "$folder/boot"
  mv "$scratch"/boot/vmlinuz-* "$folder/boot"
else
  echo "    no kernel to boot, tests/numa is skipped: $(grep . "$scratch/why" 2>/dev/null | tail -n 1)"
fi
