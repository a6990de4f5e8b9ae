#!/bin/sh
# SPDX-License-Identifier: MIT
# A block that is freed by the event after its alloc takes a short cut, unless
# somebody listens to the allocator's actions: reports on generated programs are
# the same with and without a listener.
#
#	tests/traces/temporaries.sh [FIRST-SEED [SEEDS]]
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
first=${1:-0} seeds=${2:-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# same NAME TRACE RELEASE
same() {
	"$build/gpupool" replay -q "$2" --torch "$3" --format json \
		> "$work/short" 2> "$work/why"
	"$build/gpupool" replay -q "$2" --torch "$3" --format json \
		--events "$work/events" > "$work/long" 2> "$work/why"
	if cmp -s "$work/short" "$work/long"; then
		echo "ok $1 in $3"
	else
		echo "FAIL $1 in $3: $(diff "$work/short" "$work/long" |
			sed -n 2p)"
	fi
}

# Adjacent free blocks at the start, which a free merges; long enough that
# several events share a bin.
neighbours() {
	cat << 'END'
{"format": "gpupool-trace", "version": 1, "devices": [{"device": 0,
 "total_memory": 1073741824, "start": {"segments": [
  {"address": 123145302310912, "total_size": 2097152, "segment_type": "small",
   "blocks": [
    {"size": 1024, "state": "inactive"},
    {"size": 2048, "state": "inactive"},
    {"size": 2094080, "state": "active_allocated", "id": 1}]}]},
 "events": [
  {"op": "alloc", "id": 2, "size": 4194304},
  {"op": "free", "id": 2},
END
	id=3
	while [ "$id" -lt 600 ]; do
		echo '{"op": "alloc", "id": '$id', "size": 2048},'
		echo '{"op": "free", "id": '$id'},'
		id=$((id + 1))
	done
	echo '{"op": "alloc", "id": 600, "size": 3072}]}]}'
}

neighbours > "$work/trace.json"
same "free neighbours at the start" "$work/trace.json" 2.15
seed=$first
while [ "$seed" -lt $((first + seeds)) ]; do
	for class in $("$build/tests/conform/generate" --classes); do
		"$build/tests/conform/generate" "$seed" "$class" \
			> "$work/trace.json"
		for release in 2.2 2.9 2.12 2.15; do
			same "$class, seed $seed" "$work/trace.json" "$release"
		done
	done
	seed=$((seed + 1))
done
