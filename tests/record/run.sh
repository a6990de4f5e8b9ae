#!/bin/sh
# SPDX-License-Identifier: MIT
# Records programs with a PyTorch wheel: each tests/record/*.test is a text in
# the form of tests/cli/run.sh, in which python is one with PyTorch, and
# $programs is the folder programs next to this script.
#
#	make record-test TORCH=2.15.0           fetches the wheel, runs them all
#	VENV=/path/of/a/venv tests/record/run.sh [FILE.test...]
#
# Without a wheel they are skipped.  -q omits output that depends on the
# release.
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
venv=${VENV:-}
[ -n "$venv" ] || venv=$root/build/record/venv-${TORCH:-2.15.0}

if [ ! -x "$venv/bin/python" ]; then
	for file in "$here"/*.test; do
		echo "skip $(basename "$file" .test): no PyTorch in $venv;" \
			"make record-test fetches it"
	done
	exit 0
fi
PATH=$venv/bin:$PATH
programs=$here/programs
XDG_CACHE_HOME=${BUILD:-$root/build}/record/cache
export PATH programs XDG_CACHE_HOME
unset PYTHONHASHSEED PYTHONPATH LD_PRELOAD
[ $# -gt 0 ] || set -- "$here"/*.test
for file; do
	shift
	set -- "$@" "$here/$(basename "$file")"
done
"$root/tests/cli/run.sh" "$@"
