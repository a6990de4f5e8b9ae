#!/bin/sh
# SPDX-License-Identifier: MIT
# What `make demo` shows: a real program's trace replayed as it was recorded,
# then beside it what one setting would have changed.
#
#	scripts/demo.sh PROGRAM [TRACE]
set -eu

program=$1
trace=${2:-traces/recorded/opt-finetune-2.9.jsonl.gz}
other=traces/recorded/fsdp-rank0-of-64.default.pickle.gz

show() {
	printf '\n$ gpupool %s\n\n' "$*"
	"$program" "$@"
}

echo "An OPT model being fine-tuned under PyTorch 2.9: every address of its"
echo "recording is chosen again."
show replay "$trace"

echo
echo "The same program, had blocks above 128 MiB not been split:"
show replay "$trace" --max-split-mb 128 --compare

if [ -e "$other" ] && [ $# -lt 2 ]; then
	echo
	echo "The same question for one of 64 ranks of an FSDP job:"
	show replay "$other" --max-split-mb 128 --compare
fi
