#!/bin/sh
# What only a GPU can show.  Each test says ok, FAIL or, where there is no GPU,
# skip, by name.
#
#	tests/gpu/run.sh
#	RESULTS=FOLDER tests/gpu/run.sh    keeps prices, reports, differences
#
# GPUPOOL_CUDART names a CUDA runtime that the loader does not find.  With
# STAND_IN set it is the one without a device, which runs all of this but the
# tests of memory itself: so the script is tested where there is no GPU.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
json=$build/tests/tools/json
gpupool=$build/gpupool
traces=$root/traces
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
results=${RESULTS:-$work/results}
repeat=${REPEAT:-200}
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

# Settings that the traces are replayed under, with names for them.
settings() {
	echo recorded
	echo expandable --expandable-segments
	[ -z "${STAND_IN-}" ] || return
	echo split --max-split-mb 128
	echo direct --engine direct
}

recordings() {
	ls "$traces"/recorded/*.gz "$traces"/recorded/*.zst \
		"$traces"/stories/*.jsonl 2> /dev/null
}

# The tests that follow, each by its name, when there is nothing to run them on.
skip_all() {
	why=$(head -n 1 "$work/err" | sed 's/^gpupool: //')
	for test in prices memory out-of-memory pool managed interrupt torch; do
		skip "$test" "$why"
	done
	for trace in $(recordings); do
		skip "replay-$(basename "$trace")" "$why"
	done
}

# Memory that CUDA says is free, in bytes; nothing else should run there.
free_memory() {
	"$gpupool" bench --device cuda --repeat 1 --format json \
		> "$work/free" 2> "$work/err" &&
		"$json" "$work/free" bench.free_bytes
}

# What must not depend on whether there is a device: PyTorch's counters, memory
# over time, the state at the end, and the first request that is not served.
decisions() {
	"$gpupool" replay "$@" --format json > "$work/report" \
		2> "$work/err" < /dev/null || return 1
	for path in memory_stats timeline end first_oom.event; do
		echo "$path"
		"$json" "$work/report" "runs.0.devices.*.$path"
	done
}

# ---- tests ----

prices() {
	if "$gpupool" bench --device cuda --repeat "$repeat" -q \
		--prices-out "$results/prices.json" > "$results/bench.txt" \
		2> "$work/err" &&
		"$gpupool" sweep "$traces/tiny/small-alloc.json" -q \
			--set max_split_size_mb=none \
			--prices "$results/prices.json" > /dev/null \
			2> "$work/err"; then
		ok prices
	else
		fail prices "$(head -n 1 "$work/err")"
	fi
}

told() {
	echo "$1: $2" >> "$results/compare.txt"
}

# One trace under one set of settings, without a device and with it.
compare() {
	label=$1 trace=$2
	shift 2
	decisions "$trace" --capacity "$capacity" "$@" > "$work/simulated"
	peak=$("$json" "$work/report" 'runs.0.devices.*.measures.peak_reserved_bytes' |
		sort -n | tail -n 1)
	if [ "${peak:-0}" -gt $((free - free / 10)) ]; then
		told "$label" "does not fit"
	elif ! decisions "$trace" --device cuda --capacity "$capacity" "$@" \
		> "$work/real"; then
		told "$label" "$(head -n 1 "$work/err")"
		echo "$label: $(head -n 1 "$work/err")" >> "$work/parted"
	elif cmp -s "$work/real" "$work/simulated"; then
		told "$label" "the same"
	else
		told "$label" "not the same"
		diff "$work/real" "$work/simulated" | head -n 20 \
			>> "$results/compare.txt"
		echo "$label: not the same" >> "$work/parted"
	fi
}

replay() {
	name=$(basename "$1")
	: > "$work/parted"
	settings > "$work/settings"
	while read -r how flags; do
		# The flags are a list.
		# shellcheck disable=SC2086
		compare "$name, $how" "$1" $flags
	done < "$work/settings"
	if [ -s "$work/parted" ]; then
		fail "replay-$name" "$(head -n 1 "$work/parted")"
	else
		ok "replay-$name"
	fi
}

memory() {
	if [ "$stand_in" = true ]; then
		skip memory "nothing stands behind a stand-in's memory"
		return
	fi
	for trace in "$traces"/tiny/*.json $(recordings); do
		"$gpupool" replay "$trace" --device cuda --check-memory \
			> "$work/report" 2>> "$work/memory" < /dev/null
		"$gpupool" replay "$trace" --device cuda --check-memory \
			--expandable-segments > "$work/report" \
			2>> "$work/memory" < /dev/null
	done
	if grep -q 'did not read as written' "$work/memory"; then
		fail memory "$(grep 'did not' "$work/memory" | head -n 1)"
	else
		ok memory
	fi
}

# More than there is, in blocks of 1 GiB, every other one freed, and again.
out_of_memory() {
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
		fail out-of-memory "none: $(head -n 1 "$work/err")"
	elif ! grep -q '^Alloc retries  *[1-9]' \
		"$results/out-of-memory.txt"; then
		fail out-of-memory "caches were not given back first"
	elif [ "$before" != "$after" ]; then
		fail out-of-memory "$before bytes free before, $after after"
	else
		ok out-of-memory
	fi
}

# The engines whose numbers only a device knows.
engine() {
	test=$1
	shift
	if "$gpupool" replay "$traces/recorded/opt-finetune-2.9.jsonl.gz" \
		--device cuda --ascii "$@" > "$results/$test.txt" \
		2> "$work/err" < /dev/null; then
		ok "$test"
	else
		fail "$test" "$(head -n 1 "$work/err")"
	fi
}

# PyTorch's own allocator, prepared by make torch-engine, on the device.
torch() {
	trace=$traces/recorded/opt-finetune-2.9.jsonl.gz
	release=$(cat "$build"/torch/*/release 2> /dev/null | tail -n 1)
	if [ -z "$release" ]; then
		skip torch "no engine is prepared: make torch-engine"
		return
	fi
	release=${release%.*}
	for how in caching torch; do
		"$gpupool" replay "$trace" --device cuda --engine "$how" \
			--torch "$release" --events - > "$work/$how" \
			2> "$work/err" < /dev/null || {
			fail torch "$(head -n 1 "$work/err")"
			return
		}
	done
	if cmp -s "$work/caching" "$work/torch"; then
		ok torch
	else
		fail torch "its actions are not those of the engine caching"
	fi
}

# Ctrl-C in the middle: all memory is free again, and the status says so.
interrupt() {
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
	# It is under way when it has written something.
	i=0
	while [ "$i" -lt 600 ] && kill -0 "$pid" 2> /dev/null &&
		! find "$work/events" -size +0 | grep -q events/.; do
		sleep 0.1
		i=$((i + 1))
	done
	# As SIGINT, which a shell keeps from what it runs in the background.
	kill -TERM "$pid"
	wait "$pid"
	code=$?
	after=$(free_memory)
	if [ "$code" -ne 4 ] || ! grep -q interrupted "$work/ended"; then
		fail interrupt "status $code: $(head -n 1 "$work/ended")"
	elif [ "$before" != "$after" ]; then
		fail interrupt "$before bytes free before, $after after"
	elif [ -n "$(ls "$work/events")" ]; then
		fail interrupt "a file was left"
	else
		ok interrupt
	fi
}

# ---- all of them ----

if ! "$gpupool" bench --device cuda --repeat 1 --format json \
	> "$work/about" 2> "$work/err"; then
	skip_all
	exit 0
fi
stand_in=$("$json" "$work/about" bench.is_stand_in)
capacity=$("$json" "$work/about" bench.total_bytes)
free=$(free_memory)
: > "$results/compare.txt"
prices
for trace in $(recordings); do
	replay "$trace"
done
memory
out_of_memory
engine pool --engine async
engine managed --engine managed
interrupt
torch
exit "$failed"
