#!/bin/sh
# SPDX-License-Identifier: MIT
# A sweep over engines: PyTorch's own allocator has the same numbers as
# gpupool's in each combination, on several threads as on one; and a page of its
# run.
#
# PyTorch's allocator is the one prepared by make torch-engine.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
engines=$root/build/torch
trace=$root/traces/recorded/opt-finetune-2.9.jsonl.gz
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# The newest prepared engine.
lib=
for folder in "$engines"/2.15.* "$engines"/2.9.*; do
	[ -z "$lib" ] && [ -x "$folder/gpupool-torch" ] && lib=$folder
done
if [ -z "$lib" ]; then
	echo "skip sweep_engine: PyTorch's own allocator is not prepared;" \
		"make torch-engine TORCH=2.15.0"
	exit 0
fi
release=$(cut -d. -f1,2 "$lib/release")

sweep() {
	"$build/gpupool" sweep "$trace" --torch "$release" --torch-lib "$lib" \
		--set engine=caching,torch \
		--set max_split_size_mb=none,64 \
		--set expandable_segments=none,True \
		--format csv -q --jobs "$1" < /dev/null
}

if ! sweep 1 > "$work/one" 2> "$work/err" || ! sweep 3 > "$work/three" \
	2>> "$work/err"; then
	echo "FAIL sweep_engine: it is not swept"
	sed 's/^/	/' "$work/err" | head -n 5
	exit 1
fi
if ! cmp -s "$work/one" "$work/three"; then
	echo "FAIL sweep_engine: three threads say something else than one"
	exit 1
fi
if ! "$build/gpupool" replay "$root/traces/tiny/small-alloc.json" \
	--engine torch --torch "$release" --torch-lib "$lib" --format html \
	-o "$work/page.html" -q 2> "$work/err"; then
	echo "FAIL sweep_engine: PyTorch's run has no page"
	sed 's/^/	/' "$work/err" | head -n 5
	exit 1
fi
# Each setting occurs twice, with equal columns from the settings to the device
# calls. Names of settings have no commas here except one, which both have.
for engine in caching torch; do
	sed 1d "$work/one" | grep ",$engine," | cut -d, -f3-14 |
		sed "s/,$engine,/,/" | sort > "$work/$engine"
done
if [ "$(wc -l < "$work/torch")" -eq 4 ] &&
	cmp -s "$work/caching" "$work/torch"; then
	echo "ok sweep_engine"
else
	echo "FAIL sweep_engine: PyTorch's numbers differ from gpupool's"
	diff "$work/caching" "$work/torch" | head -n 10
	exit 1
fi
