#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs on a GPU, and the same ones recorded without it: the allocator's trace
# entries must be the same, one by one, but for addresses.
#
#	tests/gpu/record.sh
#	RESULTS=FOLDER tests/gpu/record.sh    keeps what both wrote, in
#				traces.tar, and where they part, in record.txt
#
# Python is that of VENV, else the first of those in usual places that has a
# PyTorch which sees a GPU.  NAMES are the programs.  With STAND_IN set the programs that keep PyTorch's own snapshot run without a GPU
# too: what PyTorch tells of itself must be what gpupool records.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${BUILD:-$root/build}" && pwd) || exit 1
gpupool=$build/gpupool
here=$root/tests/gpu
programs=$root/tests/record/programs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
results=${RESULTS:-$work/results}
prefix=gpu-record
failed=0

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
			"$python" "$@"
	else
		"$python" "$@"
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

# Frees that follow one another may come in any order, as that of a set of
# tensors, and those of the end depend on how the interpreter lets go.
in_order() {
	awk 'function put(size,    i) {
			for (i = n++; i && held[i] < size; i--)
				held[i + 1] = held[i]
			held[i + 1] = size
		}
		$1 == "free" { put($2 + 0); next }
		{
			for (i = 1; i <= n; i++)
				printf "free %.0f\n", held[i]
			n = 0
			print
		}' "$1"
}

count() {
	wc -l < "$1" | tr -d ' '
}

# Both at once: the one needs the GPU, the other does not.
run_both() {
	(cd "$work" && exec "$gpupool" record -q -o "$work/$name.jsonl" -- \
		"$python" "$programs/$name.py") > "$work/recorded" 2>&1 &
	recorder=$!
	(cd "$work" && KEEP_SNAPSHOT=$work/$name.pickle on_device \
		"$here/keep.py" "$programs/$name.py") > "$work/ran" 2>&1
	there=$?
	wait "$recorder"
	here_status=$?
	[ "$there" -eq 0 ] ||
		why="on the device: $(grep . "$work/ran" | tail -n 1)"
	[ "$here_status" -eq 0 ] ||
		why="recorded: $(grep . "$work/recorded" | tail -n 1)"
	[ "$there" -eq 0 ] && [ "$here_status" -eq 0 ]
}

program() {
	name=$1
	if ! run_both; then
		echo "FAIL $prefix-$name: $why"
		tail -n 20 "$work/ran" "$work/recorded" \
			>> "$results/record.txt"
		failed=1
		return
	fi
	entries "$work/$name.pickle" > "$work/there"
	entries "$work/$name.jsonl" > "$work/here"
	for side in there here; do
		in_order "$work/$side" > "$work/$side.head"
	done
	diff "$work/there.head" "$work/here.head" > "$work/diff"
	parted=$(grep -c '^[<>]' "$work/diff")
	gzip -9 "$work/$name.pickle" "$work/$name.jsonl"
	(cd "$work" && tar -rf "$results/traces.tar" "$name.pickle.gz" \
		"$name.jsonl.gz") 2> "$work/err"
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

# Whether it has a PyTorch that can run there; why not is left behind.
can_run() {
	sees='import torch; sees = torch.cuda.is_available()'
	[ -z "${STAND_IN-}" ] ||
		sees='import importlib.util as u; sees = bool(u.find_spec("torch"))'
	case $("$1" -c "$sees
print('PyTorch sees:', sees)" 2> /dev/null | tail -n 1) in
	'PyTorch sees: True') return 0 ;;
	'PyTorch sees: False') why="the PyTorch of $1 sees no GPU" ;;
	esac
	return 1
}

# They are pythons only where they are there.
why='no python3 here has PyTorch; VENV names one that has'
python=
for one in "${VENV:-$root/build/record/venv-${TORCH:-2.15.0}}/bin/python" \
	python3 python /opt/*/bin/python3 /opt/*/.venv/bin/python3 \
	/usr/local/bin/python3 /usr/bin/python3; do
	if command -v "$one" > /dev/null && can_run "$one"; then
		python=$(command -v "$one")
		break
	fi
done
[ -n "$python" ] || skip_all "$why"
{
	"$python" -c 'import sys
print("Python", sys.version.split()[0], end=" ")
import torch
print("PyTorch", torch.__version__, "CUDA", torch.version.cuda)' 2> /dev/null ||
		echo
} > "$results/record.txt"
rm -f "$results/traces.tar"
for name in $names; do
	program "$name"
done
exit "$failed"
