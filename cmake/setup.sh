#!/usr/bin/env bash
# Installs what a bare Debian 12 lacks. A tool that is already on the PATH, wherever it came from, is
# not installed again. usage: setup.sh build | test | bench | python | deb | docs
set -euo pipefail

# package, or several of which the first that there is will do | what else proves that it is there (a command, or
# nothing) | why
build_packages='
g++|g++|compiles Weft
cmake|cmake|configures the build
ninja-build|ninja|runs the build
pkg-config|pkg-config|finds hwloc and OpenBLAS
libhwloc-dev||the topology of this machine, binding threads
libboost-context-dev||switches the stacks of tasks
libsqlite3-dev||writes and reads traces
libtomlplusplus-dev||reads machine files
libcli11-dev||command line of the weft tool
nlohmann-json3-dev||output of the weft tool as JSON
libprotozero-dev||timelines for Perfetto
libopenblas-pthread-dev||tile kernels of the apps (the serial OpenBLAS is not thread-safe)
libbz2-dev||blocks that `weft run compress` packs
liblapacke-dev||tile factorisation of the apps
doctest-dev||unit tests
librapidcheck-dev||property tests
python3|python3|drives the tests'
test_packages='
clang-16/clang|clang++-16|second compiler of `make test`
libclang-rt-16-dev/libclang-rt-dev||its AddressSanitizer
llvm-16/llvm|llvm-symbolizer-16|names the functions in what that says
gfortran|gfortran|Fortran examples of `make test`
graphviz|dot|draws the graphs of `weft export` in `make test`
valgrind|valgrind|counts instructions per task in `make test`
libomp-16-dev/libomp-dev||a peer in `make bench`, checked by `make test`: OpenMP of clang
libtbb-dev||a peer in `make bench` and a guest of teams, checked by `make test`: oneTBB'
# StarPU brings an MPI and more, which only who measures shall have to install.
bench_packages='
clang-16/clang|clang++-16|compiles the peer libomp
libomp-16-dev/libomp-dev||a peer: OpenMP of clang
libtbb-dev||a peer: oneTBB
libstarpu-dev||a peer: StarPU
libsimgrid-dev||what the network model is held against
cargo|cargo|compiles the peer rayon
librust-rayon-core-dev||a peer: rayon
librust-rayon-dev||an original of the examples: rayon'

# What `make wheel` and `make test-python` want beside the build; the rest comes from PyPI (python/requirements-*.txt).
python_packages='
python3-venv||an environment of its own for the wheel
python3-dev||headers of Python'
python_optional='
libpython3.11-testsuite||tests of executors that come with CPython'

# What `make deb` and `make test-deb` want beside the build.
deb_packages='
debhelper|dh|builds the Debian packages
help2man|help2man|the page of the tool for `man`
lintian|lintian|judges the packages'

# What `make docs` wants; the rest comes from PyPI (docs/requirements.txt).
docs_packages='
python3|python3|lays the pages
python3-venv||an environment of its own for mkdocs'

# Tests that need one of these are skipped where the distribution has no such package.
docs_optional='
chromium|chromium|draws its pages, so that one sees what is too wide'
optional_packages='
qemu-system-x86|qemu-system-x86_64|boots computers with several memory nodes in `make test`
libmpich-dev|mpicxx|ranks that are processes, in `make test`
mpich|mpiexec|starts them
chromium|chromium|draws the page of weft report in `make test`
python3-prometheus-client||reads what `weft top --openmetrics` writes, in `make test`
clang-format-16|clang-format-16|format check of `make test`: other versions format otherwise'

case "${1:-test}" in
  build) wanted=$build_packages ;;
  bench) wanted=$build_packages$bench_packages ;;
  deb) wanted=$build_packages$deb_packages ;;
  docs) wanted=$docs_packages$docs_optional ;;
  python) wanted=$build_packages$python_packages$python_optional ;;
  *) wanted=$build_packages$test_packages$optional_packages ;;
esac

installed() {
  local one
  for one in ${1//\// }; do
    dpkg-query -W -f '${db:Status-Status}' "$one" 2>/dev/null | grep -qx installed && return
  done
  return 1
}
first_available() {
  local one
  for one in ${1//\// }; do
    if apt-cache show "$one" >/dev/null 2>&1; then
      echo "$one"
      return
    fi
  done
}

have_dpkg=1
command -v dpkg-query >/dev/null || have_dpkg=0
missing=()
while IFS='|' read -r package command why; do
  [ -n "$package" ] || continue
  if [ -n "$command" ] && command -v "$command" >/dev/null; then continue; fi
  if [ "$have_dpkg" = 1 ] && installed "$package"; then continue; fi
  missing+=("$package")
  printf '    missing: %-25s %s\n' "$package" "$why"
done <<<"$wanted"

# Older than this, nothing works; better said here than in a page of errors.
check_versions() {
  local found
  found=$(cmake --version | sed -n '1s/[^0-9]*//p')
  if [ "$(printf '%s\n' 3.25 "$found" | sort -V | head -n1)" != 3.25 ]; then
    echo "setup: cmake $found is too old, Weft needs 3.25 (Debian 12 has it)" >&2
    exit 1
  fi
}

if [ ${#missing[@]} -eq 0 ]; then
  check_versions
  exit 0
fi

if [ "$have_dpkg" = 0 ] || ! command -v apt-get >/dev/null; then
  echo "setup: this is no system with apt; please install yourself what these packages hold:" >&2
  echo "    ${missing[*]}" >&2
  echo "then run cmake --preset release && cmake --build --preset release" >&2
  exit 1
fi

as_root=()
if [ "$(id -u)" != 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup: neither root nor sudo; as root, run: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "==> setup: apt-get install ${missing[*]}"
"${as_root[@]}" apt-get update -qq
available=()
for package in "${missing[@]}"; do
  found=$(first_available "$package")
  if [ -n "$found" ]; then
    available+=("$found")
  elif grep -q "^$package|" <<<"$optional_packages$python_optional$docs_optional"; then
    echo "setup: no package $package here; its tests will be skipped"
  else
    . /etc/os-release
    echo "setup: ${PRETTY_NAME:-this system} has no package $package. Weft is tested on Debian 12;" >&2
    echo "elsewhere please install yourself what these packages hold: ${missing[*]}" >&2
    exit 1
  fi
done
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${available[@]}" \
  >/dev/null
check_versions
