#!/bin/sh
# SPDX-License-Identifier: MIT
# A program that uses the library (examples/need.c) says what the command line
# says of the same traces.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
cd "$root" || exit 1
failed=0

# The first value of a key in a report.
value() {
	sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" \
		"$work/report" | head -n 1
}

# check TRACE CONF GIB
check() {
	"$build/examples/need" "$@" > "$work/said" 2>&1
	"$build/gpupool" replay -q "$1" --alloc-conf "$2" --capacity unlimited \
		--format json > "$work/report"
	reserved=$(value peak_reserved_bytes)
	"$build/gpupool" suggest -q "$1" --capacity "$3GiB" --format json \
		> "$work/report"
	use=$(value alloc_conf)
	[ "$use" = null ] && use="(as it is)"
	printf 'peak_reserved_bytes %s\nverdict %s\nuse %s\n' "$reserved" \
		"$(value kind)" "$use" > "$work/want"
	if cmp -s "$work/want" "$work/said"; then
		echo "ok library: $*"
	else
		echo "FAIL library: $*"
		diff "$work/want" "$work/said" | sed 's/^/	/'
		failed=1
	fi
}

fsdp=traces/recorded/fsdp-rank0-of-64.default.pickle.gz
check $fsdp max_split_size_mb:128 80
check $fsdp expandable_segments:True 4
check traces/recorded/opt-finetune-2.9.jsonl.gz "" 2
check traces/stories/one-two-one-then-three.jsonl max_split_size_mb:32 5
exit "$failed"
