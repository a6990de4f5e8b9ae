#!/bin/sh
# SPDX-License-Identifier: MIT
# Each bundled trace, replayed and written as a PyTorch snapshot, is a recording
# of that run: replayed in its turn, every address is the recorded one.
#
# A snapshot has no place for some requests, so their effect cannot be known
# again; such traces only have to be read.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
json=$build/tests/tools/json
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# What PyTorch does not record, and an oom beyond any possible size.
unrecorded='capture_begin|pool_no_split|set_allocator_settings'
unrecorded="$unrecorded|9223372036854775807"
# Nor does it record who released segments: an empty_cache, or the request that
# then got one.
unrecorded="$unrecorded|behind an empty_cache"

# The flags of the run, as in tiny.sh.
args() {
	case $1 in
	*.json) "$json" "$1" 'args.*' ;;
	esac
}

# TRACE [FLAG...]
round() {
	trace=$1
	shift
	args "$trace" > "$work/args"
	while IFS= read -r arg; do
		set -- "$@" "$arg"
	done < "$work/args"
	"$build/gpupool" convert -q --run "$trace" "$@" "$work/run.pickle" &&
		"$build/gpupool" replay -q --strict "$work/run.pickle"
}

# TRACE [FLAG...], below traces/: must be exact.
exact() {
	name="comes back from a snapshot: $*"
	trace=$root/traces/$1
	shift
	if round "$trace" "$@" > /dev/null 2> "$work/why"; then
		echo "ok $name"
	else
		echo "FAIL $name: $(head -n 1 "$work/why")"
	fi
}

for trace in "$root"/traces/tiny/*.json* "$root"/traces/stories/*.jsonl \
	"$root"/traces/recorded/*; do
	[ -f "$trace" ] || continue
	name="comes back from a snapshot: ${trace#"$root/traces/"}"
	if round "$trace" > /dev/null 2> "$work/why"; then
		echo "ok $name"
	elif [ -s "$work/run.pickle" ] &&
		{ grep -Eq "$unrecorded" "$trace" ||
			grep -q 'no addresses to compare' "$work/why"; }; then
		echo "ok $name, but for what PyTorch does not record"
	else
		echo "FAIL $name: $(head -n 1 "$work/why")"
	fi
	rm -f "$work/run.pickle"
done

# The same for what-ifs.
opt=recorded/opt-finetune-2.9.jsonl.gz
fsdp=recorded/fsdp-rank0-of-64.default.pickle.gz
drift=stories/service-drifts-by-night.jsonl
exact $opt --max-split-mb 32 --torch 2.8
exact $opt --roundup-power2-divisions '[256:1,512:2,>:8]' --torch 2.10
exact $opt --expandable-segments --torch 2.3
exact $opt --torch 2.0
exact $fsdp --gc-threshold 0.6 --capacity 4GiB
exact $fsdp --expandable-segments --roundup-power2-divisions 8 --torch 2.15
exact $fsdp --capacity 3GiB
exact $drift --capacity 3GiB --expandable-segments
exact $drift --max-split-mb 128 --capacity 44GiB
