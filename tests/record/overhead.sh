#!/bin/sh
# SPDX-License-Identifier: MIT
# overhead.sh [REQUESTS]: what recording costs a program that does nothing but
# allocate: the same program on the same libraries, recorded or not, in turn;
# its own processor seconds, the least of five runs each.
#
#	VENV=/path/of/a/venv tests/record/overhead.sh
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
venv=${VENV:-}
[ -n "$venv" ] || venv=$root/build/record/venv-${TORCH:-2.15.0}
gpupool=${BUILD:-$root/build}/gpupool
requests=${1:-1000000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

seconds() {
	"$gpupool" record -q -o "$work/t.jsonl" -- "$@" \
		"$venv/bin/python" "$here/programs/many.py" "$requests" \
		2> /dev/null | sed -n 's/^seconds //p'
}

for run in 1 2 3 4 5; do
	echo "$run $(seconds env -u SIMCUDA_RECORD) $(seconds env)"
done | awk '
	NR == 1 || $2 < without { without = $2 }
	NR == 1 || $3 < with { with = $3 }
	END {
		printf "not recorded %.2f s, recorded %.2f s: %.2f times\n",
			without, with, with / without
	}'
