#!/bin/sh
# SPDX-License-Identifier: MIT
# Packs what scripts/gpu.sh needs on a machine that has a GPU and nothing else:
# no compiler, no packages, no network.
#
#	scripts/gpu-pack.sh [FOLDER]
#
# FOLDER, build/gpu unless given, then holds the program with all but the C
# library in it, the runtime that record runs programs on, and of the prepared
# engines in build/torch those that GPU_TORCH names ("2.11.0 2.15.0").  There,
# with the checkout and that folder:
#
#	BUILD=build/gpu scripts/gpu.sh RESULTS
set -eu

cd "$(dirname "$0")/.."
out=${1:-build/gpu}
engines=${GPU_TORCH:-2.11.0 2.15.0}
cc=${CC:-gcc}

make all build/tests/tools/json build/obj/src/commands/main.o
rm -rf "$out"
mkdir -p "$out/tests/tools" "$out/simcuda" "$out/torch"

# Libraries linked statically here need not be installed there.
static="-Wl,-Bstatic -ljansson -lz -lzstd -Wl,-Bdynamic -lm -ldl -pthread"
# The libraries are a list.
# shellcheck disable=SC2086
$cc -s -o "$out/gpupool" build/obj/src/commands/main.o build/obj/gpupool.a $static || {
	echo "gpu-pack.sh: libjansson.a, libz.a and libzstd.a are needed" >&2
	exit 1
}
# shellcheck disable=SC2086
$cc -s -O2 -D_GNU_SOURCE -Iinclude -Isrc -o "$out/tests/tools/json" \
	tests/tools/json.c build/obj/gpupool.a $static
for cuda in 12 13; do
	mkdir "$out/simcuda/$cuda"
	cp build/simcuda/$cuda/libgpupool-simcuda.so "$out/simcuda/$cuda"
done
for engine in $engines; do
	if [ -x "build/torch/$engine/cuda/gpupool-torch" ]; then
		cp -RP "build/torch/$engine" "$out/torch/$engine"
	else
		echo "not packed: PyTorch $engine's allocator, which" \
			"make torch-engine TORCH=$engine prepares" >&2
	fi
done
git rev-parse HEAD > "$out/commit" 2> /dev/null || true
echo "packed in $out: $(du -sh "$out" | cut -f 1)," \
	"$(ls "$out/torch" | wc -l) engines of PyTorch's"
