#!/bin/sh
# SPDX-License-Identifier: MIT
# The corpus: records the programs of this folder to traces/recorded/corpus,
# and those from papers, which are large, to traces/recorded/papers.
#
#	VENV=/path/of/a/venv tests/record/corpus/run.sh
#
# The venv has PyTorch, transformers and peft.  Existing traces are kept: remove
# one to record it again.  ONLY='regex' chooses programs.
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
build=${BUILD:-$root/build}
kept=$root/traces/recorded
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
mkdir -p "$kept/corpus" "$kept/papers"

failed=0
while read -r program arguments; do
	name=$(echo "$program $arguments" | sed 's/ *$//; s/ /-/g')
	echo "$name" | grep -qE "${ONLY:-.}" || continue
	to=corpus/$name kind=jsonl gpu=h100-80gb how=
	case $name in
	papers-*) to=papers/${name#papers-} kind=bin gpu=a100-80gb ;;
	esac
	case $name in
	serve-offload) how='--events lag:60' ;;
	papers-qwen-moe*) how='--values drawn:1' ;;
	esac
	to=$kept/$to.$kind.zst
	[ ! -e "$to" ] || continue
	# how and arguments are words
	# shellcheck disable=SC2086
	if "$build/gpupool" record --gpu $gpu --cudnn none $how \
		-o "$work/trace.jsonl" -- "$python" \
		"$here/$program.py" $arguments > "$work/log" 2>&1 \
		< /dev/null &&
		"$build/gpupool" replay -q --strict "$work/trace.jsonl" \
			>> "$work/log" 2>&1 &&
		{
			[ $kind = jsonl ] || "$build/gpupool" convert -q \
				"$work/trace.jsonl" "$work/trace.$kind"
		}; then
		zstd -q -19 "$work/trace.$kind" -o "$to"
		echo "$name: recorded, and replayed to the same addresses"
	else
		failed=1
		echo "$name failed"
		tail -n 3 "$work/log"
	fi
	rm -f "$work"/trace*
done < "$here/programs"
exit $failed
