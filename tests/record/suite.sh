#!/bin/sh
# SPDX-License-Identifier: MIT
# suite.sh [NAME...]: records the programs of the suite, replays each to the
# same addresses and counters, and compares it with the stored trace of this
# release in traces/recorded/programs, request by request.  UPDATE=1 stores
# traces with new requests: one with the same requests stays unchanged, because
# addresses and times are different each time.  UPDATE=all stores all.
#
# gpupool and a python with PyTorch must be on PATH, as run.sh sets it.
set -u

here=$(cd "$(dirname "$0")" && pwd)
kept=$(cd "$here/../.." && pwd)/traces/recorded/programs
release=$(python -c "from importlib.metadata import version as v; print(*v(\"torch\").split(\".\")[:2], sep=\".\")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# The options of gpupool record for a program.
options() {
	case $1 in
	loader | fsdp) echo --events lag:60 ;;
	oom) echo --capacity 3GiB ;;
	esac
}

# One process compiles, because more of them take longer to start.
TORCHINDUCTOR_COMPILE_THREADS=1
export TORCHINDUCTOR_COMPILE_THREADS

# The program's requests.  When the threads of the backward pass free their
# blocks is up to them, and so are the addresses that follow from it.  Blocks of
# a pool that is restored come in the order of a hash of host addresses.
requests() {
	grep -E '^\{"op":"(alloc|empty_cache|capture_begin|capture_end)"' |
		grep -v '"restored":true' |
		sed 's/,"addr":[0-9]*//; s/,"owner":[0-9]*//'
}

# Whether a trace with the same requests is stored.
is_kept() {
	file=$kept/$1-$release.jsonl.gz
	[ "${UPDATE-}" != all ] || return 1
	[ -e "$file" ] || [ -n "${UPDATE-}" ] || return 0 # of another release
	: > "$work/kept"
	[ ! -e "$file" ] || gzip -dc "$file" | requests > "$work/kept"
	requests < "$trace" > "$work/requests"
	cmp -s "$work/kept" "$work/requests"
}

one() {
	trace=$work/$1.jsonl
	# The options are a list.
	# shellcheck disable=SC2046
	gpupool record --gpu h100-80gb --cudnn none $(options "$1") -o "$trace" -- \
		python "$here/programs/$1.py" > "$work/log" 2>&1 || {
		echo "$1 failed"
		cat "$work/log"
		return
	}
	gpupool replay "$trace" --strict > "$work/log" || {
		echo "$1 is not replayed as recorded"
		cat "$work/log"
		return
	}
	is_kept "$1" || {
		[ -n "${UPDATE-}" ] || {
			echo "$1 is not what is kept of it"
			diff "$work/kept" "$work/requests" | head -n 5
			return
		}
		gzip -9nc "$trace" > "$kept/$1-$release.jsonl.gz"
	}
	echo "$1 replayed as recorded"
}

[ $# -gt 0 ] || set -- cnn gpt2 llama lora decode graphs restore fsdp ddp loader oom
for name; do
	one "$name"
done
