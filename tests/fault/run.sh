#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes calls fail, one after another, while each line of tests/fault/commands
# runs: memory, files, threads.  DRAWS=N draws N of these failures with SEED;
# DRAWS=0 tries all of them (make fault).
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
BUILD=${BUILD:-$root/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

case $BUILD in
*address* | *thread* | *fuzzer*)
	echo "skip fault: a sanitizer has an allocator of its own"
	exit
	;;
esac
case $(uname -m) in
x86_64 | aarch64) ;;
*)
	echo "skip fault: it is made for x86-64 and aarch64"
	exit
	;;
esac

# What the command lines read.
mkdir "$work/bin"
cp "$BUILD/gpupool" "$work/bin"
echo "stands for what replays in a page" > "$work/bin/gpupool.wasm.gz"
gpupool=$work/bin/gpupool
tiny=$root/traces/tiny/neighbours-merge.json
in=$work/in
mkdir -p "$in/check"
ln -s "$root/traces/imports" "$in"
mkdir "$in/tiny"
cp "$tiny" "$in/tiny"
cp "$root/traces/stories/one-two-one-then-three.jsonl" "$in/unfit.jsonl"
head -n 5 "$in/unfit.jsonl" > "$in/fits.jsonl"
"$gpupool" convert "$tiny" "$in/tiny/neighbours-merge.pickle" \
	--format pickle --run &&
	"$gpupool" convert "$tiny" "$in/tiny/neighbours-merge.bin" &&
	"$gpupool" convert "$tiny" "$in/tiny/neighbours-merge.jsonl" &&
	gzip -k "$in/tiny/neighbours-merge.jsonl" || exit 1
zstd -q "$in/tiny/neighbours-merge.jsonl" 2> /dev/null ||
	cp "$in/tiny/neighbours-merge.jsonl" "$in/tiny/neighbours-merge.jsonl.zst"
"$gpupool" replay "$in/unfit.jsonl" --format json > "$in/report.a"
"$gpupool" replay "$in/fits.jsonl" --format json > "$in/report.b"
for part in 1 2; do
	"$gpupool" sweep "$in/unfit.jsonl" --set max_split_size_mb=none,64 \
		--shard "$part/2" -q -o "$in/part.$part" || exit 1
done
cp "$in/fits.jsonl" "$in/check/t.jsonl"
echo '{"runs": [{"name": "base", "trace": "t.jsonl"}]}' \
	> "$in/check/gpupool.json"
(cd "$in/check" && "$gpupool" check --update > /dev/null) || exit 1
# For gpupool mcp.
cat > "$in/stdin" << EOF
{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "fault", "version": "1"}}}
{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "suggest", "arguments": {"trace": "$in/unfit.jsonl"}}}
EOF

if "$BUILD/tests/fault/drive" "$gpupool" "$BUILD/tests/fault/fault.so" "$in" \
	"$here/commands" "${DRAWS:-0}" "${SEED:-1}" \
	"${JOBS:-$(nproc 2> /dev/null || echo 2)}"; then
	echo "ok fault"
else
	echo "FAIL fault: a call that failed was not answered as it must be"
fi
