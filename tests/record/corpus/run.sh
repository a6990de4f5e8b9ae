#!/bin/sh
# SPDX-License-Identifier: MIT
# The corpus: records the programs of this folder into traces/recorded/corpus.
#
#	VENV=/path/of/a/venv tests/record/corpus/run.sh
#
# The venv has PyTorch and transformers.  What is there already is kept: remove
# a trace to have it recorded anew.  ONLY='regex' chooses programs.
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
build=${BUILD:-$root/build}
kept=$root/traces/recorded/corpus
python=${VENV:-$build/record/venv-zoo}/bin/python

for command in "$build/gpupool" "$python" zstd; do
	command -v "$command" > /dev/null || {
		echo "skip corpus: there is no $command"
		exit 0
	}
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
mkdir -p "$kept"

failed=0
while read -r program arguments; do
	name=$(echo "$program $arguments" | sed 's/ *$//; s/ /-/g')
	echo "$name" | grep -qE "${ONLY:-.}" || continue
	[ ! -e "$kept/$name.jsonl.zst" ] || continue
	events=instant
	[ "$name" != serve-offload ] || events=lag:60
	# arguments are words
	# shellcheck disable=SC2086
	if "$build/gpupool" record --gpu h100-80gb --cudnn none \
		--events $events -o "$work/trace.jsonl" -- "$python" \
		"$here/$program.py" $arguments > "$work/log" 2>&1 \
		< /dev/null &&
		"$build/gpupool" replay -q --strict "$work/trace.jsonl" \
			>> "$work/log" 2>&1; then
		zstd -q -19 "$work/trace.jsonl" -o "$kept/$name.jsonl.zst"
		echo "$name: recorded, and replayed to the same addresses"
	else
		failed=1
		echo "$name failed"
		tail -n 3 "$work/log"
	fi
	rm -f "$work"/trace*
done < "$here/programs"
exit $failed
