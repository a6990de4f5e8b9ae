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
for file in log.txt compare.txt bench.txt record.txt reports.txt; do
	[ ! -s "$from/$file" ] ||
		install -m 644 "$from/$file" "$kept/$file"
done
if [ -s "$from/prices.json" ]; then
	mkdir -p prices
	install -m 644 "$from/prices.json" "prices/$name.json"
fi
if [ -s "$from/traces.tar" ]; then
	mkdir -p "traces/recorded/$name"
	tar -xf "$from/traces.tar" -C "traces/recorded/$name"
	find "traces/recorded/$name" -size +1024k |
		sed 's/$/: too large for the tree, leave it out/'
fi
git status --short "$kept" prices "traces/recorded/$name" 2> /dev/null || true
