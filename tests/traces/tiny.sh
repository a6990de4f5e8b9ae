#!/bin/sh
# SPDX-License-Identifier: MIT
# Replays every traces/tiny/NAME.json (or .jsonl) and compares with what lies
# beside it:
#
#	NAME.expect	lines "KEY VALUE": a key of the first device in the
#			JSON report, or of its memory_stats
#	NAME.events	what --events writes, to the byte
#
# Flags of the run are in the trace's header: "args": ["--torch", "2.11"].
# UPDATE=1 writes the .events that are there anew; an .expect is written by
# hand.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
json=$build/tests/tools/json
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
failed=0

# The program, with the flags in the trace's header.
replay() {
	trace=$1
	set --
	"$json" "$trace" 'args.*' > "$work/args" || return
	while IFS= read -r arg; do
		set -- "$@" "$arg"
	done < "$work/args"
	"$build/gpupool" replay "$trace" "$@" --format json \
		-o "$work/report" --events "$work/events" < /dev/null
}

# Keys are looked up in the device, then in its memory_stats.
compare_numbers() {
	while read -r key value; do
		case $key in
		'' | '#'*) continue ;;
		esac
		device=runs.0.devices.0
		got=$("$json" "$work/report" "$device.$key" \
			"$device.memory_stats.$key" | head -n 1)
		[ "$got" = "$value" ] ||
			echo "$key is ${got:-not there}, not $value"
	done < "$1"
}

compare() {
	beside=${1%.json*}
	found=
	if [ -e "$beside.expect" ]; then
		found=yes
		compare_numbers "$beside.expect"
	fi
	if [ -e "$beside.events" ]; then
		found=yes
		[ -z "${UPDATE-}" ] || cp "$work/events" "$beside.events"
		diff -u "$beside.events" "$work/events" | sed '1,2d'
	fi
	[ -n "$found" ] || echo "neither .expect nor .events is beside it"
}

for trace in "$root"/traces/tiny/*.json "$root"/traces/tiny/*.jsonl; do
	[ -e "$trace" ] || continue
	name=$(basename "$trace")
	if replay "$trace" > "$work/said" 2>&1; then
		compare "$trace" > "$work/said"
	else
		echo "exit $?" >> "$work/said"
	fi
	if [ -s "$work/said" ]; then
		echo "FAIL $name: it is not replayed as expected"
		sed 's/^/	/' "$work/said" | head -n 40
		failed=1
	else
		echo "ok $name"
	fi
done
exit "$failed"
