#!/bin/sh
# All that needs a GPU, in a few minutes: its tests, the prices of its calls, and
# what replays on it come to beside simulated ones.
#
#	scripts/gpu.sh [FOLDER]
#
# FOLDER, tests/gpu/results/ and the GPU's name unless given, then holds
#
#	log.txt			the tests, one line each
#	prices.json bench.txt	what calls take, as sweep and as people read it
#	record.txt *.pickle.gz	programs on the GPU beside recorded ones
#	compare.txt		each trace and setting: the same as simulated?
#	out-of-memory.txt pool.txt managed.txt	reports of replays
#
# Without a GPU the tests are skipped, by name, and no folder is made.
# GPUPOOL_CUDART names a CUDA runtime that the loader does not find.
set -eu

cd "$(dirname "$0")/.."
make all build/tests/tools/json
about=$(build/gpupool bench --device cuda --repeat 1 --format json \
	2> /dev/null) || {
	exec tests/run.sh tests/gpu/run.sh tests/gpu/record.sh
}
name=$(echo "$about" | build/tests/tools/json - bench.gpu | tr -d '"' |
	tr -cs '[:alnum:]\n' '-' | tr '[:upper:]' '[:lower:]')
folder=${1:-tests/gpu/results/$name}
mkdir -p "$folder"
RESULTS=$(cd "$folder" && pwd)
export RESULTS
{
	date -u +%Y-%m-%d
	git rev-parse HEAD 2> /dev/null || true
	for test in run record headers; do
		tests/gpu/$test.sh || true
	done
} 2>&1 | tee "$RESULTS/log.txt"
echo "results: $folder"
! grep -q '^FAIL' "$RESULTS/log.txt"
