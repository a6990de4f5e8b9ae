#!/bin/sh
# SPDX-License-Identifier: MIT
# All that needs a GPU, in a few minutes: its tests, the prices of its calls,
# replays on it beside simulated ones, programs on it beside recorded ones.
#
#	scripts/gpu.sh [FOLDER]
#
# FOLDER, build/gpu-results unless given, then holds at most eight files:
#
#	log.txt		the machine, and a line for each test
#	compare.txt	each trace and setting: the same as simulated?
#	prices.json bench.txt	what calls take, as sweep and as people read it
#	programs.txt	the pool; what replays say, proven; programs on the GPU
#			beside recorded ones
#	reports.txt	replays: out of memory, the pool, managed memory
#	traces.tar	what these kept: what PyTorch itself wrote on the GPU
#
# scripts/gpu-keep.sh FOLDER then puts them into the tree.
#
# The steps come in the order of their worth, each has its own limit and leaves
# what it has; all of it ends within GPU_SECONDS, 460 unless given.  Nothing is
# built where BUILD names what scripts/gpu-pack.sh packed.  GPUPOOL_CUDART names
# a CUDA runtime that is not found by itself, VENV a Python that has PyTorch.
# Without a GPU the tests are skipped, by name, and no folder is made.
set -u

cd "$(dirname "$0")/.." || exit 1
folder=${1:-build/gpu-results}
now() {
	date +%s
}
end=$(($(now) + ${GPU_SECONDS:-460}))
if [ -z "${BUILD-}" ]; then
	BUILD=build
	make all build/tests/tools/json || BUILD=build/gpu
fi
[ -x "$BUILD/gpupool" ] || {
	echo "gpu.sh: there is no $BUILD/gpupool; scripts/gpu-pack.sh makes" \
		"one for machines that cannot" >&2
	exit 1
}
BUILD=$(cd "$BUILD" && pwd)
export BUILD

# Runs with a limit, SECONDS or the time that is left, if the machine can.
limited() {
	seconds=$1 left=$((end - $(now)))
	shift
	[ "$left" -ge "$seconds" ] || seconds=$left
	if command -v timeout > /dev/null; then
		timeout -k 5 "$seconds" "$@"
	else
		"$@"
	fi
}

# Whether the default runtime, or the given one, shows a device.
works() {
	limited 60 env GPUPOOL_CUDART="${1-${GPUPOOL_CUDART-}}" \
		"$BUILD/gpupool" bench --device cuda --about -q > /dev/null
}

# Another runtime on this machine that does; for each, the reason if it does
# not.
find_runtime() {
	find /usr/local /usr/lib /opt "$HOME" -name 'libcudart.so.*' \
		! -path '*/gpupool/*' 2> /dev/null | while read -r library; do
		if works "$library" >&2; then
			echo "$library"
			break
		fi
	done
}

if ! works; then
	found=$(find_runtime)
	if [ -z "$found" ]; then
		tests/gpu/run.sh
		exit 4
	fi
	GPUPOOL_CUDART=$found
	export GPUPOOL_CUDART
fi
mkdir -p "$folder"
RESULTS=$(cd "$folder" && pwd)
export RESULTS
log=$RESULTS/log.txt
rm -f "$RESULTS/reports.txt" "$RESULTS/compare.txt"
python=${VENV:+$VENV/bin/}python3

say() {
	echo "$*" | tee -a "$log"
}

#	step SECONDS NAME COMMAND...
step() {
	most=$1 name=$2 began=$(now)
	shift 2
	if [ $((end - began)) -lt 10 ]; then
		say "skip $name: no time is left"
		return
	fi
	limited "$most" "$@" > "$log.step" 2>&1 < /dev/null
	code=$?
	tee -a "$log" < "$log.step"
	case $code in
	0 | 1) ;;
	124 | 137) say "FAIL $name: it did not end within its time" ;;
	*) say "FAIL $name: it ended with status $code" ;;
	esac
	rm -f "$log.step"
	say "  ($name: $(($(now) - began)) s)"
}

# Reports of a few lines each, in a single file.
report() {
	[ -r "$RESULTS/$1.txt" ] || return
	{
		echo "== $1"
		cat "$RESULTS/$1.txt"
		echo
	} >> "$RESULTS/reports.txt"
	rm -f "$RESULTS/$1.txt"
}

machine() {
	date -u +%Y-%m-%d
	cat "$BUILD/commit" 2> /dev/null || git rev-parse HEAD 2> /dev/null
	uname -srm
	nvidia-smi --query-gpu=name,driver_version,memory.total,memory.used,persistence_mode,mig.mode.current,compute_mode \
		--format=csv 2>&1
	nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv 2>&1
	ldconfig -p 2> /dev/null | grep 'libcuda\.\|libcudart\|libnvidia-ml'
	env | grep '^CUDA\|^LD_LIBRARY_PATH\|^NVIDIA'
	for program in python3 nvcc gcc; do
		command -v "$program"
	done
	"$BUILD/gpupool" bench --device cuda --about -q --ascii | head -n 8
}

# What needs PyTorch, beside what does not.
programs() {
	gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
	kept=$(mktemp -d)
	{
		for script in pool proof programs; do
			echo "== $script"
			case $script in
			pool) set -- "$kept/pool.jsonl.gz" --gpupool "$BUILD/gpupool" \
				traces/recorded/programs/gpt2-2.11.jsonl.gz \
				traces/recorded/programs/cnn-2.11.jsonl.gz \
				traces/recorded/programs/decode-2.11.jsonl.gz \
				traces/recorded/programs/loader-2.11.jsonl.gz ;;
			proof) set -- --results "$kept" --gpu "$gpu" \
				--gpupool "$BUILD/gpupool" --workers 9 ;;
			programs) set -- --results "$kept" --gpu "$gpu" \
				--gpupool "$BUILD/gpupool" --workers 7 \
				--seconds $((end - $(now) - 25)) ;;
			esac
			limited 300 "$python" "tests/gpu/$script.py" "$@"
		done
		tar -C "$kept" -cf "$RESULTS/traces.tar" .
		rm -rf "$kept"
	} > "$RESULTS/programs.txt" 2>&1
}

: > "$log"
machine 2>&1 | tee -a "$log"
# Alone on the device, because these measure it or fill it.
for test in prices:90 out-of-memory:30 interrupt:40; do
	step "${test#*:}" "${test%:*}" tests/gpu/run.sh "${test%:*}"
	report "${test%:*}"
done
programs &
for test in replay:60 expandable:60 torch:60 pool:20 split:60 direct:60 memory:60; do
	step "${test#*:}" "${test%:*}" tests/gpu/run.sh "${test%:*}"
	report "${test%:*}"
done
step 20 headers tests/gpu/headers.sh
wait
tee -a "$log" < "$RESULTS/programs.txt"
# The last step: if managed memory fails, the device may hang.
step 20 managed tests/gpu/run.sh managed
report managed
say "results: $folder"
ls -l "$RESULTS"
! grep -q '^FAIL' "$log"
