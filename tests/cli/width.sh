#!/bin/sh
# SPDX-License-Identifier: MIT
# In text reports on all bundled traces, no line is wider than the 80 columns to
# which it was wrapped, except lines with a path or a command to paste, and
# single words that are wider than their column.  Nor does a line begin with the
# unit of the number at the end of the line before.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
cd "$root" || exit 1
failed=0

# Counts characters: continuation bytes of UTF-8 do not count.
too_wide() {
	LC_ALL=C awk '
		{ columns = $0; gsub(/[\200-\277]/, "", columns) }
		length(columns) > 80 && !/gpupool (replay|explain|floor)|ALLOC_CONF=|https:/
	' "$1"
}

parted() {
	LC_ALL=C awk '
		ends && /^ +([KMGT]iB|B|ms|s|%)([ ,.;:)]|$)/ { print before; print }
		{ ends = /[0-9]$/; before = $0 }
	' "$1"
}

measure() {
	"$build/gpupool" "$@" > "$work/out" 2> "$work/err" < /dev/null
	[ $? -gt 1 ] && cat "$work/err" && return 1
	too_wide "$work/out" > "$work/wide"
	parted "$work/out" >> "$work/wide"
	[ -s "$work/wide" ] || return 0
	cat "$work/wide"
	return 1
}

check() {
	if measure "$@" > "$work/said"; then
		echo "ok width: gpupool $*"
	else
		failed=1
		echo "FAIL width: gpupool $*"
		sed 's/^/	/' "$work/said"
	fi
}

for trace in traces/stories/*.jsonl traces/tiny/*.json \
	traces/recorded/*.gz traces/recorded/*.zst; do
	check info "$trace"
	check explain "$trace"
	check explain "$trace" --details --capacity 24MiB
	check suggest "$trace"
	check headroom "$trace"
	check diff "$trace" --expandable-segments
done
[ "$failed" -eq 0 ]
