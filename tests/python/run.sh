#!/bin/sh
# SPDX-License-Identifier: MIT
# The Python package, with what was built here in the place of what a wheel
# brings: each test of pytest's is a test.
#
#	PYTHON		a python that has pytest; else python3, or Debian's
#	TORCH_PYTHON	one that has PyTorch, on which programs are recorded; else
#			that of build/record, which make record-test fetches
#
# Without them the tests are skipped, and so are those of integrations whose
# package TORCH_PYTHON lacks.
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "$root" && cd "${BUILD:-build}" && pwd) || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# The first that has pytest: Debian's own may have it where another comes first.
find_python() {
	for python in "${PYTHON:-python3}" /usr/bin/python3; do
		"$python" -c 'import pytest' 2> /dev/null && return 0
	done
	return 1
}

if ! find_python; then
	echo "skip python: no python3 has pytest (scripts/packages.sh python)"
	exit 0
fi
if [ -n "$(nm -D "$build/libgpupool.so.0" 2> /dev/null |
	grep -E '__(asan|tsan|ubsan)_' | head -n 1)" ]; then
	echo "skip python: a library with sanitizers is for programs with them"
	exit 0
fi

stage=$work/stage
mkdir -p "$stage/gpupool/_native/bin" "$stage/gpupool/_native/lib"
ln -s "$root"/python/gpupool/*.py "$root/python/gpupool/py.typed" \
	"$stage/gpupool"
ln -s "$build/gpupool" "$stage/gpupool/_native/bin/gpupool"
ln -s "$build/libgpupool.so.0" "$stage/gpupool/_native/lib/libgpupool.so.0"
mkdir "$stage/gpupool/_native/share"
ln -s "$build" "$stage/gpupool/_native/share/gpupool" # gpupool.wasm

torch=${TORCH_PYTHON:-$root/build/record/venv-${TORCH:-2.15.0}/bin/python}
[ ! -x "$torch" ] || export TORCH_PYTHON="$torch"
export PYTHONPATH="$stage" GPUPOOL_ROOT="$root" TRACES="$root/traces"
export PYTHONDONTWRITEBYTECODE=1 XDG_CACHE_HOME="$build/record/cache"
cd "$work" || exit 1
[ $# -gt 0 ] || set -- "$here"
"$python" -m pytest -q -p no:cacheprovider --rootdir "$here" \
	-c "$here/pytest.ini" "$@"
