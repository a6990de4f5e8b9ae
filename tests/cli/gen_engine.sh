#!/bin/sh
# SPDX-License-Identifier: MIT
# Every scenario of gpupool gen, small, replayed by PyTorch's own allocator:
# it makes the same decisions as gpupool.
#
# PyTorch's allocator is the one prepared by make torch-engine.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
gpupool=$build/gpupool
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# A scenario that is not in this list runs with its defaults.
small() {
	case $1 in
	checkerboard) echo blocks=20 ;;
	ragged) echo steps=4 layers=3 ;;
	decoding) echo requests=6 layers=2 longest=128 ;;
	spikes) echo steps=6 every=3 pieces=8 ;;
	tenants) echo turns=6 blocks=8 ;;
	transformer) echo layers=2 steps=2 ;;
	histogram) echo --from "$work/ragged.json" ;;
	esac
}

# One release and one engine folder; scenario after scenario.
play() {
	for name in $names; do
		# The parameters are a list.
		# shellcheck disable=SC2046
		if "$gpupool" gen "$name" $(small "$name") -q \
			-o "$work/$name.json" 2> "$work/err" &&
			"$gpupool" verify "$work/$name.json" --torch "$1" \
				--torch-lib "$2" -q > "$work/out" \
				2> "$work/err"; then
			echo "ok gen_engine: $name, PyTorch $1"
		else
			echo "FAIL gen_engine: $name, PyTorch $1"
			sed 's/^/	/' "$work/out" "$work/err" | head -n 8
			failed=1
		fi
	done
}

names=$("$gpupool" gen | sed -n 's/^\([a-z]*\): .*/\1/p')
failed=0 found=0
for folder in "$root"/build/torch/*; do
	[ -x "$folder/gpupool-torch" ] || continue
	found=1
	play "$(cut -d. -f1,2 "$folder/release")" "$folder"
done
if [ "$found" -eq 0 ]; then
	for name in $names; do
		echo "skip gen_engine: $name: PyTorch's own allocator is not" \
			"prepared; make torch-engine TORCH=2.15.0"
	done
fi
exit "$failed"
