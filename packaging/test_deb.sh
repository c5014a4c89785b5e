#!/usr/bin/env bash
# The packages in FOLDER: lintian has nothing to say, and what a user does with them works, without an installation:
# they are unpacked, a program is built by pkg-config and one by CMake, and both and the tool run.
# usage: test_deb.sh FOLDER
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
cd "${1:?usage: test_deb.sh FOLDER}"
# Whoever publishes them puts an address of a maintainer there; the project has none.
address=bogus-mail-host,bogus-mail-host-in-debian-changelog
lintian --allow-root --fail-on error,warning --suppress-tags "$address" ./*.deb
root=$PWD/root work=$PWD/work
rm -rf "$root" "$work"
mkdir -p "$root" "$work"
for package in ./*.deb; do dpkg-deb -x "$package" "$root"; done
libs=$(dirname "$(find "$root/usr/lib" -name libweft.so)")
export PKG_CONFIG_PATH=$libs/pkgconfig LD_LIBRARY_PATH=$libs

expect() {
  if [ "$2" != "$3" ]; then
    echo "$1: '$2', not '$3'" >&2
    exit 1
  fi
  echo "$1: $2"
}
# shellcheck disable=SC2046
g++ -std=c++20 "$here/tests/install/main.cpp" -o "$work/program" $(pkg-config --cflags --libs weft)
expect 'pkg-config' "$("$work/program")" 42
# shellcheck disable=SC2046
g++ -std=c++20 "$here/tests/install/lab.cpp" -o "$work/lab" $(pkg-config --cflags --libs weft-lab)
expect 'pkg-config weft-lab' "$("$work/lab")" 42
cmake -S "$here/tests/install" -B "$work/cmake" -G Ninja -DCMAKE_PREFIX_PATH="$root/usr" >/dev/null
cmake --build "$work/cmake" >/dev/null
expect 'find_package' "$("$work/cmake/consumer")" 42
WEFT_TRACE=$work/run.weft "$work/program" >/dev/null
"$root/usr/bin/weft" report "$work/run.weft" --json >"$work/report.json"
tasks=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["tasks"])' "$work/report.json")
expect 'weft report' "$tasks" 2
cat >"$work/omp.cpp" <<'PROGRAM'
#include <cstdio>
int main() {
  int n = 0;
#pragma omp parallel for reduction(+ : n)
  for (int i = 0; i < 42; ++i) ++n;
  std::printf("%d\n", n);
}
PROGRAM
g++ -fopenmp "$work/omp.cpp" -o "$work/omp"
expect 'weft run -- ./omp' "$("$root/usr/bin/weft" run -- "$work/omp" 2>/dev/null)" 42
gzip -dc "$root/usr/share/man/man1/weft.1.gz" | grep -q '^.SH NAME'
rm -rf "$root" "$work"
