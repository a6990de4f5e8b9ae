#!/bin/sh
# SPDX-License-Identifier: MIT
# The commands that README.md, docs/ and the manuals show are run, each in a
# folder with the files that they speak of: the program takes every one of them.
# What needs PyTorch, a GPU, a network or make wasm is not run here: needs_more.
#
#	tests/docs/examples.sh
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${BUILD:-$root/build}" && pwd)
part=examples
. "$root/tests/script.inc"

# One command a line: indented blocks of Markdown, where a line may go on in the
# next, and displays of manuals.
shown() {
	sed -e ':more' -e '/\\$/{N;s/\\\n//;b more' -e '}' \
		"$root/README.md" "$root/python/README.md" \
		"$root"/docs/*.md |
		sed -n 's/^    \(\$ \)\{0,1\}\(build\/\)\{0,1\}\(gpupool .*\)/\3/p' |
		sed 's/ # .*//; s/  *$//; s/\([^ ]\)    *[a-z].*/\1/'
	sed -n 's/^\.Dl gpupool /gpupool /p' "$root"/man/*.[1-9]
}

# Elsewhere: tests/record, tests/gpu and tests/cli/engine_library.sh have them.
needs_more() {
	case $1 in
	gpupool\ record\ * | gpupool\ fit\ * | gpupool\ mcp*) ;;
	gpupool\ verify* | *--device\ cuda* | *./mine.so* | *host*) ;;
	*--engine\ pinned*) ;;
	gpupool\ page*) [ ! -f "$build/gpupool.wasm" ] ;;
	*) return 1 ;;
	esac
}

# The names of their files.
prepare() {
	trace=$root/traces/recorded/fsdp-rank0-of-64.default.pickle.gz
	mkdir -p ranks snapshots bin traces .config/fish/completions
	ln -s "$build/gpupool" bin/gpupool
	ln -s "$root/traces/"* traces
	cp "$trace" traces/train.pickle.gz
	gunzip -c "$trace" > snapshot.pickle
	for copy in TRACE trace.json before.pickle after.pickle rank0.pickle \
		rank1.pickle ranks/rank0.pickle ranks/rank1.pickle \
		snapshots/rank0.pickle snapshots/rank1.pickle; do
		ln -s "$work/in/snapshot.pickle" $copy
	done
	"$build/gpupool" gen -q ragged steps=2850 -o big.bin &&
		mv big.bin big.pickle || return
	printf 'id,lower,upper,size\n1,0,9,1024\n2,3,12,2048\n' \
		> A.1048576.csv
	sed -n '/^    {"limits"/,/}]}$/p' "$root/README.md" > gpupool.json
	"$build/gpupool" check -q --update
}

# It succeeded (0) or found what it looks for (1).
taken() {
	(cd "$work/in" && HOME=$work/in PATH=$work/in/bin:$PATH \
		timeout 300 sh -c "$1") < /dev/null > "$work/out" 2> "$work/err"
	status=$?
	case $1 in
	*--without-site\ optimizer.py:88*) # this program has none
		grep -q "no block of the trace matches" "$work/err" && return ;;
	esac
	[ "$status" -le 1 ] && return
	echo "$1 ends with $status: $(head -n 1 "$work/err")"
	return 1
}

run_all() {
	missed=0
	while IFS= read -r line; do
		needs_more "$line" || taken "$line" || missed=1
	done < "$work/shown"
	return "$missed"
}

shown | sort -u > "$work/shown"
found() {
	[ "$(wc -l < "$work/shown")" -ge 60 ]
}
mkdir "$work/in"
(cd "$work/in" && prepare) > "$work/made" 2>&1 || {
	echo "FAIL examples: $(tail -n 1 "$work/made")"
	exit 1
}
ok found found
run_all > "$work/missed"
ok run sh -c 'cat "$1"; [ ! -s "$1" ]' - "$work/missed"
exit "$failed"
