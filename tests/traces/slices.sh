#!/bin/sh
# SPDX-License-Identifier: MIT
# A part of a trace has the same decisions as the whole from there on: generated
# programs, in several releases, are cut in three places.
#
# What is not compared: addresses, as new segments may lie elsewhere; and order
# among neighbouring free_completed, as the part is told one by one what is
# done. Left out is what a start state cannot hold: ages for the garbage
# collection and for ties from 2.12 on, cudaMalloc_count of expandable segments
# in private pools, pages of another size; and programs that PyTorch ends by an
# assertion.
#
#	tests/traces/slices.sh [FIRST-SEED [SEEDS]]
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
first=${1:-0} seeds=${2:-4}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# Each with a release that has its settings.
trials="default:2.2 split:2.11 large:2.12 expandable:2.11 oom:2.4
	oom-expandable:2.11 reserve:2.15 others:2.6 fraction:2.10 throw:2.12
	pools:2.11 pool-flags:2.11"

# actions TRACE RELEASE FROM: the allocator's actions from that event on.
actions() {
	"$build/gpupool" replay -q "$1" --torch "$2" --events "$work/events" \
		> /dev/null || return
	awk -v from="$3" '
		{ at = $0; sub(/.*"event":/, "", at) }
		at + 0 < from { next }
		{ gsub(/"addr":[0-9]+,|,"id":[0-9]+|,"event":[0-9]+/, "") }
		/"free_completed"/ {
			for (i = n++; i && done[i] > $0; i--)
				done[i + 1] = done[i]
			done[i + 1] = $0
			next
		}
		{ flush(); print }
		END { flush() }
		function flush(i) {
			for (i = 1; i <= n; i++)
				print done[i]
			n = 0
		}' "$work/events"
}

# cut RELEASE FROM: $work/whole.json
cut() {
	"$build/gpupool" slice -q "$work/whole.json" "$work/part.json" \
		--from "$2" || return
	actions "$work/whole.json" "$1" "$2" > "$work/whole" || return
	actions "$work/part.json" "$1" 0 > "$work/part" || return
	cmp -s "$work/whole" "$work/part" && return
	diff "$work/whole" "$work/part" | sed -n 2p >&2
	return 1
}

# trial SEED CLASS RELEASE
trial() {
	"$build/tests/conform/generate" "$1" "$2" |
		sed "s/\"complete\": true/&, \"torch\": \"$3\"/" \
			> "$work/whole.json"
	if grep -q garbage_collection "$work/whole.json" ||
		"$build/gpupool" replay -q "$work/whole.json" |
		grep -q "refused by PyTorch's rules"; then
		return
	fi
	count=$(grep -c '{"op":' "$work/whole.json")
	for part in 1 2 3; do
		from=$((count * part / 4))
		[ "$from" -gt 0 ] || continue
		if cut "$3" "$from" 2> "$work/why"; then
			echo "ok $2, seed $1, from event $from in $3"
		else
			echo "FAIL $2, seed $1, from event $from in $3:" \
				"$(head -n 1 "$work/why")"
		fi
	done
}

seed=$first
while [ "$seed" -lt $((first + seeds)) ]; do
	for both in $trials; do
		trial "$seed" "${both%:*}" "${both#*:}"
	done
	seed=$((seed + 1))
done
