#!/bin/sh
# SPDX-License-Identifier: MIT
# gpupool TRACE prints one screen for each bundled trace: 24 lines of 80
# columns, of which only commands and the line to paste may be longer.  It
# begins with the sentence and the line of gpupool explain.
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
		length(columns) > 80 && !/^  gpupool |ALLOC_CONF=/
	' "$1"
}

# Compares words, however they are wrapped.
words() {
	tr -s ' \n' ' '
}

measure() {
	COLUMNS=80 "$build/gpupool" "$@" > "$work/out" 2> "$work/err" \
		< /dev/null || { cat "$work/err" && return 1; }
	lines=$(wc -l < "$work/out")
	[ "$lines" -le 24 ] || { echo "$lines lines" && return 1; }
	too_wide "$work/out" > "$work/wide"
	[ -s "$work/wide" ] || return 0
	cat "$work/wide"
	return 1
}

# Up to the first full stop at the end of a line.
sentence() {
	awk '{ print } /\.$/ { exit }' "$work/out" | words
}

agree() {
	COLUMNS=80 "$build/gpupool" explain "$@" < /dev/null 2> /dev/null |
		words > "$work/explain"
	grep -qF -- "$(sentence)" "$work/explain" ||
		{ echo "explain does not say: $(sentence)" && return 1; }
	line=$(grep -m 1 -o 'PYTORCH_CUDA_ALLOC_CONF=.*' "$work/out")
	[ -z "$line" ] || grep -qF -- "$line" "$work/explain" ||
		{ echo "explain does not say: $line" && return 1; }
}

check() {
	if { measure "$@" && agree "$@"; } > "$work/said"; then
		echo "ok first_screen: gpupool $*"
	else
		failed=1
		echo "FAIL first screen: gpupool $*"
		sed 's/^/	/' "$work/said"
	fi
}

for trace in traces/stories/*.jsonl traces/tiny/*.json traces/imports/*; do
	check "$trace"
	check "$trace" --capacity 24MiB
done
for trace in traces/recorded/*.gz traces/recorded/*.zst; do
	check "$trace"
done
check traces/recorded/gpt2-ragged.default.pickle.zst --capacity 7800MiB
check traces/recorded/gpt2-ragged.default.pickle.zst --capacity 6GiB
[ "$failed" -eq 0 ]
