#!/bin/sh
# SPDX-License-Identifier: MIT
# Engines in Python: the example obeys the rules for engines and equals the one
# in C block for block, and errors in a script are reported.  PYTHON_CONFIG
# chooses the Python.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
config=${PYTHON_CONFIG:-python3-config}
traces=$root/traces/recorded/programs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
cp "$root"/examples/engine/* "$work"
cd "$work" || exit 1
export PYTHONDONTWRITEBYTECODE=1

# engine NAME: NAME.py.so
engine() {
	make -s "$1.py.so" PYTHON_CONFIG="$config" \
		HEADERS="-I$root/include" > made 2>&1
}

if ! engine first_fit; then
	echo "skip python_engine: no Python.h, or no shared Python to link" \
		"with: scripts/packages.sh python"
	exit
fi
failed=0

# verdict NAME: said is as wanted
verdict() {
	if cmp -s want said; then
		echo "ok python_engine $1"
	else
		echo "FAIL python_engine $1"
		diff want said | head -n 10
		failed=1
	fi
}

"$build/gpupool" check-engine ./first_fit.py.so 2>&1 | tail -n 1 > said
echo "7 of 7 promises kept" > want
verdict "first fit keeps its promises"

for trace in cnn-2.11.jsonl.gz compile-2.11.jsonl.gz; do
	[ -e "$traces/$trace" ] || continue
	for name in first-fit ./first_fit.py.so; do
		"$build/gpupool" replay "$traces/$trace" --engine $name \
			--events - > "${name##*/}.events" 2> error || cat error
	done
	cksum < first-fit.events > want
	cksum < first_fit.py.so.events > said
	[ -s first-fit.events ] || echo "nothing came of it" > want
	verdict "first fit as in C: $trace"
done

# wrong NAME SENTENCE: the script NAME.py ends so.
wrong() {
	engine "$1"
	"$build/gpupool" replay t.json --engine "./$1.py.so" > said 2> error
	echo "$?" > said
	grep "^gpupool: " error | sed "s|status 1: .*|status 1|" >> said
	printf '3\ngpupool: ./%s.py.so: %s\n' "$1" "$2" > want
	verdict "$1"
}

echo '{"format": "gpupool-trace", "version": 1, "devices": [{"device": 0,
"events": [{"op": "alloc", "id": 1, "size": 1000}]}]}' > t.json
sed 's/for i, there in/for i, there on/' first_fit.py > syntax.py
wrong syntax "gpupool_engine() returns no table"
sed 's/size = up(ask.size, GRAIN)/size = up(ask.sice, GRAIN)/' first_fit.py \
	> raises.py
wrong raises "alloc of 1000 bytes, block 0: its process ended with status 1"
sed '/^table/d' first_fit.py > no_table.py
wrong no_table "gpupool_engine() returns no table"
wrong missing "gpupool_engine() returns no table"
exit "$failed"
