#!/bin/sh
# SPDX-License-Identifier: MIT
# What only a GPU can show.  Each test says ok, FAIL or, where there is no GPU,
# skip, by name.
#
#	tests/gpu/run.sh [TEST...]
#	RESULTS=FOLDER tests/gpu/run.sh    keeps prices, reports, differences
#
# GPUPOOL_CUDART names a CUDA runtime that the loader does not find.  With
# STAND_IN set it is the one without a device, which runs all of this but the
# tests of memory itself: so the script is tested where there is no GPU.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${BUILD:-$root/build}" && pwd) || exit 1
json=$build/tests/tools/json
gpupool=$build/gpupool
traces=$root/traces
all='prices replay expandable out-of-memory interrupt torch memory split direct
	pool managed'
tests=${*:-$all}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
results=${RESULTS:-$work/results}
repeat=${REPEAT:-200}
libraries=${LD_LIBRARY_PATH-}
prefix=gpu
failed=0

if [ -n "${STAND_IN-}" ]; then
	GPUPOOL_CUDART=$build/simcuda/13/libgpupool-simcuda.so
	export GPUPOOL_CUDART
	prefix=gpu-stand-in
fi
mkdir -p "$results"

ok() {
	echo "ok $prefix-$1"
}

fail() {
	echo "FAIL $prefix-$1: $2"
	failed=1
}

skip() {
	echo "skip $prefix-$1: $2"
}

# The message of the last command.
why() {
	head -n 1 "$work/err" | sed 's/^gpupool: //'
}

recordings() {
	ls "$traces"/recorded/*.gz "$traces"/recorded/*.zst \
		"$traces"/recorded/*/*.gz "$traces"/stories/*.jsonl \
		2> /dev/null
}

# The free memory that CUDA reports, in bytes; nothing else should run there.
free_memory() {
	"$gpupool" bench --device cuda --about --format json \
		> "$work/free" 2> "$work/err" &&
		"$json" "$work/free" bench.free_bytes
}

# The driver's own memory varies a little between processes.
is_left_free() {
	left=$(($1 - $2))
	[ "${left#-}" -lt 33554432 ]
}

# Traces replayed there and on a simulated device: every action and counter.
#	compare TEST TRACES FLAG...
compare() {
	test=$1 list=$2
	shift 2
	# The place of this machine's libraries does not matter.
	echo "== $test: verify --device cuda $*" |
		sed 's/ --\(torch-lib\|cudart\) [^ ]*//g' >> "$results/compare.txt"
	before=$(wc -l < "$results/compare.txt")
	# The names are a list.
	# shellcheck disable=SC2086
	LD_LIBRARY_PATH=$libraries "$gpupool" verify $list --device cuda -q \
		"$@" 2> "$work/err" < /dev/null >> "$results/compare.txt"
	code=$?
	# The output of this test: it is in the file even if the time is over.
	tail -n "+$((before + 1))" "$results/compare.txt" > "$work/told"
	cat "$work/err" >> "$results/compare.txt"
	compared=$(grep -c '  equal' "$work/told")
	if [ "$code" -eq 0 ] && [ "$compared" -gt 0 ]; then
		ok "$test"
	elif grep -q 'NOT EQUAL\|DID NOT' "$work/told"; then
		fail "$test" "$(grep 'NOT EQUAL\|DID NOT' "$work/told" |
			head -n 1 | tr -s ' ')"
	else
		fail "$test" "$(why)"
	fi
}

# ---- tests ----

test_prices() {
	if "$gpupool" bench --device cuda --repeat "$repeat" -q \
		--prices-out "$results/prices.json" > "$results/bench.txt" \
		2> "$work/err" &&
		"$gpupool" sweep "$traces/tiny/small-alloc.json" -q \
			--set max_split_size_mb=none \
			--prices "$results/prices.json" > /dev/null \
			2> "$work/err"; then
		ok prices
	else
		fail prices "$(why)"
	fi
}

test_replay() {
	compare replay "$(recordings)"
}

test_expandable() {
	compare expandable "$(recordings)" --expandable-segments
}

test_split() {
	compare split "$(recordings)" --max-split-mb 128
}

test_direct() {
	compare direct "$(recordings)" --engine direct
}

test_memory() {
	if [ "$stand_in" = true ]; then
		skip memory "nothing stands behind a stand-in's memory"
		return
	fi
	compare memory "$(ls "$traces"/tiny/*.json) $(recordings)" \
		--check-memory
	compare memory-expandable "$(recordings)" --check-memory \
		--expandable-segments
}

# More than the device has, in blocks of 1 GiB; every other one freed, and
# again.
test_out_of_memory() {
	blocks=$((free / 1073741824 + 4)) i=0
	{
		echo '{"format":"gpupool-trace","version":1,"devices":[{"device":0}]}'
		while [ "$i" -lt "$blocks" ]; do
			echo "{\"op\":\"alloc\",\"id\":$i,\"size\":1073741824}"
			i=$((i + 1))
		done
		for i in 0 2 4; do
			echo "{\"op\":\"free\",\"id\":$i}"
		done
		echo "{\"op\":\"alloc\",\"id\":$blocks,\"size\":2147483648}"
	} > "$work/oom.jsonl"
	before=$(free_memory)
	"$gpupool" replay "$work/oom.jsonl" --device cuda --ascii \
		> "$results/out-of-memory.txt" 2> "$work/err" < /dev/null
	after=$(free_memory)
	if ! grep -q '^OOMs  *[1-9]' "$results/out-of-memory.txt"; then
		fail out-of-memory "none: $(why)"
	elif ! grep -q '^Alloc retries  *[1-9]' \
		"$results/out-of-memory.txt"; then
		fail out-of-memory "caches were not given back first"
	elif ! is_left_free "$before" "$after"; then
		fail out-of-memory "$before bytes free before, $after after"
	else
		ok out-of-memory
	fi
}

# The engines whose numbers only a device knows.
#	engine TEST TRACE FLAG...
engine() {
	test=$1 trace=$traces/$2
	shift 2
	if "$gpupool" replay "$trace" --device cuda --ascii "$@" > "$results/$test.txt" \
		2> "$work/err" < /dev/null; then
		ok "$test"
	else
		fail "$test" "$(why)"
	fi
}

test_pool() {
	engine pool recorded/opt-finetune-2.9.jsonl.gz --engine async
}

# A small one, because the device fetches page by page what it touches first.
test_managed() {
	engine managed recorded/programs/loader-2.11.jsonl.gz --engine managed
}

# PyTorch's own allocator, prepared by make torch-engine, on the device.
test_torch() {
	ran=0
	for folder in "$build"/torch/*/; do
		folder=${folder%/}
		[ -r "$folder/release" ] || continue
		release=$(cut -d . -f 1,2 "$folder/release")
		list=$(ls "$traces"/recorded/programs/*-"$release".jsonl.gz \
			2> /dev/null)
		[ -n "$list" ] || continue
		ran=$((ran + 1))
		if [ ! -x "$folder/cuda/gpupool-torch" ]; then
			skip "torch-$release" "an older gpupool prepared it"
			continue
		fi
		# The stand-in that PyTorch's library takes for its runtime.
		set --
		if [ -n "${STAND_IN-}" ]; then
			set -- --cudart "$(ls "$folder"/libcudart.so.*)"
			libraries=$folder
		fi
		compare "torch-$release" "$list" --engine torch \
			--torch "$release" --torch-lib "$folder" "$@"
		compare "torch-$release-expandable" "$list" --engine torch \
			--expandable-segments --torch "$release" \
			--torch-lib "$folder" "$@"
	done
	libraries=${LD_LIBRARY_PATH-}
	[ "$ran" -gt 0 ] ||
		skip torch "no engine is prepared: make torch-engine"
}

# Ctrl-C in the middle: all memory is free again, with the right exit status.
test_interrupt() {
	awk 'BEGIN {
		print "{\"format\":\"gpupool-trace\",\"version\":1," \
			"\"devices\":[{\"device\":0}]}"
		for (i = 0; i < 100000; i++) {
			print "{\"op\":\"alloc\",\"id\":" i ",\"size\":4000000}"
			print "{\"op\":\"free\",\"id\":" i "}"
		}
	}' > "$work/long.jsonl"
	before=$(free_memory)
	mkdir "$work/events"
	"$gpupool" replay "$work/long.jsonl" --device cuda --engine direct \
		--check-memory --events "$work/events/all" > /dev/null \
		2> "$work/ended" < /dev/null &
	pid=$!
	# It has started when it has written something.
	i=0
	while [ "$i" -lt 600 ] && kill -0 "$pid" 2> /dev/null &&
		! find "$work/events" -size +0 | grep -q events/.; do
		sleep 0.1
		i=$((i + 1))
	done
	# Like SIGINT, which a shell blocks for commands in its background.
	kill -TERM "$pid"
	wait "$pid"
	code=$?
	after=$(free_memory)
	if [ "$code" -ne 4 ] || ! grep -q interrupted "$work/ended"; then
		fail interrupt "status $code: $(head -n 1 "$work/ended")"
	elif ! is_left_free "$before" "$after"; then
		fail interrupt "$before bytes free before, $after after"
	elif [ -n "$(ls "$work/events")" ]; then
		fail interrupt "a file was left"
	else
		ok interrupt
	fi
}

# ---- all of them ----

if ! "$gpupool" bench --device cuda --about --format json \
	> "$work/about" 2> "$work/err"; then
	for test in $tests; do
		skip "$test" "$(why)"
	done
	exit 0
fi
stand_in=$("$json" "$work/about" bench.is_stand_in)
free=$("$json" "$work/about" bench.free_bytes)
for test in $tests; do
	"test_$(echo "$test" | tr - _)"
done
exit "$failed"
