#!/bin/sh
# SPDX-License-Identifier: MIT
# Puts what scripts/gpu.sh left into the tree:
#
#	scripts/gpu-keep.sh FOLDER
#
# Prices to prices/GPU.json, which make install installs; what programs left to
# traces/recorded/GPU/; the rest to tests/gpu/results/GPU/.
set -eu

if [ $# -ne 1 ] || [ ! -r "$1/log.txt" ]; then
	echo "usage: gpu-keep.sh FOLDER, which scripts/gpu.sh made" >&2
	exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
from=$(cd "$1" && pwd)
cd "$root"
name=$(sed -n 's/^GPU  *\([^,]*\),.*/\1/p' "$from/log.txt" | head -n 1 |
	tr -cs '[:alnum:]\n' '-' | tr '[:upper:]' '[:lower:]')
[ -n "$name" ] || {
	echo "gpu-keep.sh: $from/log.txt names no GPU" >&2
	exit 1
}
! grep -q '^no device ' "$from/log.txt" || {
	echo "gpu-keep.sh: these are a stand-in's, and no GPU's" >&2
	exit 1
}
kept=tests/gpu/results/$name
mkdir -p "$kept"
for file in log.txt compare.txt bench.txt programs.txt reports.txt; do
	[ ! -s "$from/$file" ] ||
		install -m 644 "$from/$file" "$kept/$file"
done
if [ -s "$from/prices.json" ]; then
	mkdir -p prices
	install -m 644 "$from/prices.json" "prices/$name.json"
fi
# Each program's snapshot; recorded ones can be made again.
if [ -s "$from/traces.tar" ]; then
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	tar -xf "$from/traces.tar" -C "$work"
	cp "$work/pool.jsonl.gz" "$work/proof.txt" "$kept"
	tar -xf "$work/device.tar" -C "$work"
	mkdir -p "traces/recorded/$name"
	for file in "$work"/*.snapshot.pickle.gz; do
		program=$(basename "$file" .snapshot.pickle.gz)
		install -m 644 "$file" "traces/recorded/$name/$program.pickle.gz"
	done
	find "traces/recorded/$name" -size +128k |
		sed 's/$/: large for the tree, leave it out?/'
fi
git status --short "$kept" prices "traces/recorded/$name" 2> /dev/null || true
