#!/bin/sh
# SPDX-License-Identifier: MIT
# Every trace of traces/tiny through PyTorch's own allocator, of the release
# that the trace's flags name: it decides as gpupool does.
#
# PyTorch's is what make torch-engine made; releases that it did not are
# skipped.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
failed=0

# What only PyTorch does: it frees a part of a segment (docs/upstream).
alone() {
	case $1 in
	set-max-split-frees-a-part)
		echo "segment_free 0x700006400000 size 524288000" ;;
	set-max-split-frees-what-is-live)
		echo "segment_free 0x700000000000 size 524288000" ;;
	esac
}

# verify TRACE RELEASE FOLDER
verify() {
	trace=$1 release=$2 folder=$3
	set -- --torch "$release"
	while IFS= read -r arg; do
		set -- "$@" "$arg"
	done < "$work/args"
	"$build/gpupool" verify "$trace" "$@" --torch-lib "$folder" -q \
		> "$work/said" 2>&1 < /dev/null
	code=$? want=$(alone "$name")
	[ "$code" -eq 0 ] || [ -n "$want" ] || return 1
	[ "$(sed -n '1,/^What follows/d; s/^ *PyTorch *//p' "$work/said" |
		sed -n 's/  */ /gp; q')" = "$want" ]
}

for trace in "$root"/traces/tiny/*.json; do
	name=$(basename "$trace" .json)
	"$build/tests/tools/json" "$trace" 'args.*' > "$work/args" || exit 1
	release=$(sed -n '/^--torch$/{n;p;}' "$work/args")
	release=${release:-2.15}
	set -- "$root/build/torch/$release".*
	if [ ! -x "$1/gpupool-torch" ]; then
		echo "skip tiny_engine: $name: make torch-engine" \
			"TORCH=$release.0"
	elif verify "$trace" "$release" "$1"; then
		echo "ok tiny_engine: $name, PyTorch $release"
	else
		echo "FAIL tiny_engine: $name, PyTorch $release"
		sed 's/^/	/' "$work/said" | head -n 20
		failed=1
	fi
done
exit "$failed"
