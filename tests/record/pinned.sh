#!/bin/sh
# SPDX-License-Identifier: MIT
# pinned.sh: requests for pinned host memory, generated from seeds, served by
# PyTorch and by gpupool's engine, under each of its settings in the release.
#
# gpupool and a python with PyTorch must be on PATH, as run.sh sets it.
set -u

here=$(cd "$(dirname "$0")" && pwd)
program=$here/programs/pinned.py
release=$(python -c "from importlib.metadata import version as v; print(*v(\"torch\").split(\".\")[:2], sep=\".\")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
cd "$work" || exit 1

one() {
	PYTORCH_CUDA_ALLOC_CONF=$2 gpupool record -q --events lag:100000000 \
		-o device.jsonl -- python "$program" play "$1" t.jsonl \
		key.json 2> told || cat told
	gpupool replay t.jsonl --engine pinned --torch "$release" \
		--alloc-conf "$2" --events events.jsonl --format json \
		-o report.json
	python "$program" judge key.json events.jsonl report.json
}

one 1 ""
[ "${release#2.}" -lt 10 ] || one 2 pinned_reserve_segment_size_mb:64
[ "${release#2.}" -lt 13 ] ||
	one 3 pinned_max_round_threshold_mb:1,pinned_max_cached_size_mb:4
