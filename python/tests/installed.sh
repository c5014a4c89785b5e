#!/usr/bin/env bash
# Installs the wheel of a folder into an empty environment, where no source is near, and runs the tests with it.
# usage: installed.sh WHEELS ENVIRONMENT [pytest arguments]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
wheels=$(cd "$1" && pwd)
rm -rf "$2"
python3 -m venv "$2"
environment=$(cd "$2" && pwd)
"$environment/bin/pip" -q install "$wheels"/weftrt-*.whl -r "$here/../requirements-test.txt"
cd "$environment"
export WEFTRT_WHEEL=$(echo "$wheels"/weftrt-*.whl)
exec ./bin/python -m pytest -q -p no:cacheprovider "$here" "${@:3}"
