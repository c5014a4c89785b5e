#!/usr/bin/env bash
# Debian packages of the tree that is committed here: libweft0, libweft-dev, weft. Needs what `make setup-deb` installs.
# usage: deb.sh FOLDER     the packages come to FOLDER
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
out=${1:?usage: deb.sh FOLDER}
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$here/packaging/debian/changelog")
rm -rf "$out/weft-$version"
mkdir -p "$out/weft-$version"
git -C "$here" archive HEAD | tar -x -C "$out/weft-$version"
cp -r "$here/packaging/debian" "$out/weft-$version/debian"
cd "$out/weft-$version"
dpkg-buildpackage --unsigned-source --unsigned-changes --build=binary
cd ..
rm -rf "weft-$version"
ls -- *.deb
