#!/bin/sh
# SPDX-License-Identifier: MIT
# overhead.sh [REQUESTS [STEPS]]: the cost of recording for a program that only
# allocates, and the cost of following values for one that trains: each with the
# same libraries, alternately with it and without, in processor seconds of the
# program, the minimum of five runs each.
#
#	VENV=/path/of/a/venv tests/record/overhead.sh
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
venv=${VENV:-}
[ -n "$venv" ] || venv=$root/build/record/venv-${TORCH:-2.15.0}
gpupool=${BUILD:-$root/build}/gpupool
requests=${1:-1000000}
steps=${2:-50}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# seconds PROGRAM COUNT ENV-ARGUMENT...
seconds() {
	program=$1
	count=$2
	shift 2
	"$gpupool" record -q -o "$work/t.jsonl" -- env "$@" \
		"$venv/bin/python" "$here/programs/$program.py" "$count" \
		2> /dev/null | sed -n 's/^seconds //p'
}

# compare WITHOUT WITH: files with a number on each line; prints both times.
compare() {
	awk -v without_name="$1" -v with_name="$2" '
		NR == 1 || $2 < without { without = $2 }
		NR == 1 || $3 < with { with = $3 }
		END {
			printf "%s %.2f s, %s %.2f s: %.2f times\n",
				without_name, without, with_name, with,
				with / without
		}'
}

for run in 1 2 3 4 5; do
	echo "$run $(seconds many "$requests" -u SIMCUDA_RECORD)" \
		"$(seconds many "$requests" SIMCUDA_QUIET=1)"
done | compare "not recorded" recorded
for run in 1 2 3 4 5; do
	echo "$run $(seconds steps "$steps" SIMCUDA_VALUES=0)" \
		"$(seconds steps "$steps" SIMCUDA_VALUES=1)"
done | compare "values not followed" followed
