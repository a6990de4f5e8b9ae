#!/bin/sh
# SPDX-License-Identifier: MIT
# The zoo: programs of a few lines over packages that people use, each recorded
# with what is known of its values and with values drawn, as a table.
#
#	make zoo VENV=/path/of/a/venv
#
# What was recorded is kept in build/record/zoo: a call that was interrupted goes
# on where it was.  ONLY='regex' chooses programs, MODES="known all" how.
set -u

here=$(cd "$(dirname "$0")" && pwd)
build=${BUILD:-$(cd "$here/../../.." && pwd)/build}
venv=${VENV:-$build/record/venv-zoo}
kept=$build/record/zoo
limit=${LIMIT:-600}

if [ ! -x "$venv/bin/python" ]; then
	echo "skip zoo: no Python with PyTorch in $venv; VENV names another"
	exit 0
fi
mkdir -p "$kept"

# The package that a program imports first and that is missing, if one is.
missing() {
	sed -n 's/^\(import\|from\) \([a-z_]*\).*/\2/p' "$1" | sort -u |
		while read -r package; do
			"$venv/bin/python" -c "import importlib.util, sys
sys.exit(importlib.util.find_spec('$package') is None)" || echo "$package"
		done
}

# A row: how it ended, whether the replay is exact, the peak, and the path.
record() {
	name=$1 mode=$2 row=$3
	shift 3
	timeout "$limit" "$build/gpupool" record --values "$mode" \
		-o "$kept/trace.jsonl" -- "$venv/bin/python" "$@" \
		> "$kept/out" 2> "$kept/told"
	status=$?
	replayed=$(sed -n 's/.*allocations; replayed: //p' "$kept/told" |
		head -n 1)
	peak=$("$build/gpupool" info "$kept/trace.jsonl" 2> /dev/null |
		sed -n 's/^at the peak *\([0-9.]* [KMG]iB\).*/\1/p' | head -n 1)
	path=$(sed -n 's/^gpupool: path: //p' "$kept/told" | head -n 1 |
		cut -d: -f1)
	printf '| %s | %s | %s | %s | %s | %s |\n' "$name" "$mode" "$status" \
		"${replayed:-no trace}" "${peak:--}" "${path:--}" > "$row"
	rm -f "$kept/trace"*
}

echo '| program | values | status | replayed | reserved at the peak | path |'
echo '|---|---|--:|---|--:|---|'
while read -r program arguments; do
	name="$program${arguments:+ $arguments}"
	echo "$name" | grep -qE "${ONLY:-.}" || continue
	lacks=$(missing "$here/$program.py")
	if [ -n "$lacks" ]; then
		echo "skip $name: no" $lacks "in $venv" >&2
		continue
	fi
	for mode in ${MODES:-known drawn:1}; do
		row=$kept/$(echo "$name-$mode" | tr ' :' '--').row
		# shellcheck disable=SC2086 # arguments are words
		[ -s "$row" ] || record "$name" "$mode" "$row" \
			"$here/$program.py" $arguments < /dev/null
		cat "$row"
	done
done < "$here/programs"
