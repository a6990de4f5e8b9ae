#!/bin/sh
# SPDX-License-Identifier: MIT
# What `make demo` shows: a real program that runs out of memory, what went wrong
# and what helps; then another one replayed as it was recorded, beside what one
# setting would have changed.
#
#	scripts/demo.sh PROGRAM [TRACE]
set -eu

program=$1
trace=${2:-traces/recorded/opt-finetune-2.9.jsonl.gz}
oom=traces/recorded/gpt2-ragged.default.pickle.zst

show() {
	printf '\n$ gpupool %s\n\n' "$*"
	"$program" "$@"
}

if [ -e "$oom" ] && [ $# -lt 2 ]; then
	echo "GPT-2 being trained on a device with too little memory: what went"
	echo "wrong, and what helps?"
	show "$oom" --capacity 7800MiB
	echo
fi

echo "An OPT model being fine-tuned under PyTorch 2.9, every address of its"
echo "recording chosen again; and had blocks above 128 MiB not been split:"
show replay "$trace" --max-split-mb 128 --compare
