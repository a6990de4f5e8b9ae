#!/bin/sh
# Programs on a GPU, and the same ones recorded without it: the allocator's trace
# entries must be the same, one by one, but for addresses.
#
#	tests/gpu/record.sh
#	RESULTS=FOLDER tests/gpu/record.sh    keeps what PyTorch wrote, and
#					      where the two part
#
# Python is that of VENV, else python3; it needs a PyTorch that sees a GPU.  With
# STAND_IN set the programs that keep PyTorch's own snapshot run without a GPU
# too: what PyTorch tells of itself must be what gpupool records.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
gpupool=$build/gpupool
here=$root/tests/gpu
programs=$root/tests/record/programs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
results=${RESULTS:-$work/results}
prefix=gpu-record
failed=0

venv=${VENV:-$root/build/record/venv-${TORCH:-2.15.0}}
if [ -x "$venv/bin/python" ]; then
	PATH=$venv/bin:$PATH
	export PATH
fi
mkdir -p "$results"
[ -z "${STAND_IN-}" ] || prefix=gpu-record-stand-in

# Each runs on one device, to its end, and says what it needs.
names=${NAMES:-gpt2 cnn decode training lora llama graphs}

skip_all() {
	for name in $names; do
		echo "skip $prefix-$name: $1"
	done
	exit 0
}

# On the device, or where a stand-in takes its place.
on_device() {
	if [ -n "${STAND_IN-}" ]; then
		"$gpupool" record -q -o "$work/not-used.jsonl" -- \
			python3 "$@"
	else
		python3 "$@"
	fi
}

# A trace's requests and segments, without what no two runs share: "alloc 512",
# "free 512", "segment_alloc 2097152".
entries() {
	"$gpupool" convert "$1" - --format jsonl -q 2> "$work/err" |
		awk '{
			op = $0
			if (!sub(/^\{"op":"/, "", op))
				next
			sub(/".*/, "", op)
			if (op !~ /^(alloc|free|oom|segment_.*)$/)
				next
			id = $0
			if (!sub(/.*"id":/, "", id))
				id = ""
			sub(/[^0-9].*/, "", id)
			size = $0
			if (sub(/.*"size":/, "", size)) {
				sub(/[^0-9].*/, "", size)
				if (op == "alloc")
					sizes[id] = size
			} else {
				size = sizes[id]
			}
			print op, size
		}'
}

count() {
	wc -l < "$1" | tr -d ' '
}

program() {
	name=$1
	if ! (cd "$work" && KEEP_SNAPSHOT=$work/$name.pickle on_device \
		"$here/keep.py" "$programs/$name.py") > "$work/out" 2>&1; then
		echo "FAIL $prefix-$name: on the device: $(tail -n 1 "$work/out")"
		failed=1
		return
	fi
	if ! (cd "$work" && "$gpupool" record -q -o "$work/$name.jsonl" -- \
		python3 "$programs/$name.py") > "$work/out" 2>&1; then
		echo "FAIL $prefix-$name: recorded: $(tail -n 1 "$work/out")"
		failed=1
		return
	fi
	entries "$work/$name.pickle" > "$work/there"
	entries "$work/$name.jsonl" > "$work/here"
	# How the interpreter lets go of what it holds in the end differs.
	for side in there here; do
		awk '/free/ { held = held $0 "\n"; next }
			{ printf "%s", held; held = ""; print }' \
			"$work/$side" > "$work/$side.head"
	done
	diff "$work/there.head" "$work/here.head" > "$work/diff"
	parted=$(grep -c '^[<>]' "$work/diff")
	gzip -9 -c "$work/$name.pickle" > "$results/$name.pickle.gz"
	{
		echo "$name: $(count "$work/there.head") entries on the" \
			"device, $(count "$work/here.head") recorded;" \
			"$parted differ"
		head -n 40 "$work/diff"
	} >> "$results/record.txt"
	if [ ! -s "$work/there.head" ]; then
		echo "FAIL $prefix-$name: no entries: $(head -n 1 "$work/err")"
		failed=1
	elif [ "$parted" -eq 0 ]; then
		echo "ok $prefix-$name"
	else
		echo "FAIL $prefix-$name: $parted entries differ"
		failed=1
	fi
}

python3 -c 'import torch' 2> /dev/null ||
	skip_all "python3 has no PyTorch; VENV names one that has"
if [ -z "${STAND_IN-}" ]; then
	python3 -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' \
		2> /dev/null || skip_all "PyTorch sees no GPU"
fi
: > "$results/record.txt"
for name in $names; do
	program "$name"
done
exit "$failed"
