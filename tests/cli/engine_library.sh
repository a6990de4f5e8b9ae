#!/bin/sh
# SPDX-License-Identifier: MIT
# Engines from libraries: the example serves, and for each of the bad ones a
# message of one sentence is printed.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
cc=$(command -v gcc || command -v clang || command -v cc)
if [ -z "$cc" ]; then
	echo "skip engine_library: no C compiler"
	exit
fi
cd "$work" || exit 1
# The death of an engine's process is reported as such, also if a sanitizer
# would report it itself.
handle=handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0
export ASAN_OPTIONS="${ASAN_OPTIONS-}:$handle"

cat > t.json << 'END'
{"format": "gpupool-trace", "version": 1, "devices": [{"device": 0, "events": [
{"op": "alloc", "id": 1, "size": 1000}, {"op": "alloc", "id": 2, "size": 600},
{"op": "free", "id": 1}, {"op": "empty_cache"}]}]}
END

# library NAME SOURCE [FLAG...]
library() {
	name=$1 source=$2
	shift 2
	"$cc" -std=gnu11 -shared -fPIC -I"$root/include" "$@" -o "$name" \
		"$source"
}

# bad KIND SENTENCE
bad() {
	library "$1.so" "$root/tests/cli/bad_engine.c" "-DBAD_$1"
	"$build/gpupool" replay t.json --engine "./$1.so" > said 2> error
	code=$?
	head -n 1 error > first
	echo "gpupool: $2" > want
	if [ $code -eq 3 ] && diff want first > differ; then
		echo "ok engine_library $1"
	else
		echo "FAIL engine_library $1: exit status $code"
		cat differ
	fi
}

bad VERSION "./VERSION.so: it is made for version 42 of gpupool/engine.h; this gpupool has version 1"
bad SYMBOL "./SYMBOL.so: it is not an engine: it has no function gpupool_engine"
bad TABLE "./TABLE.so: gpupool_engine() returns no table"
bad CALLS "./CALLS.so: its table has no alloc, or no free"
bad CREATE "./CREATE.so: create: it created no allocator"
bad CRASH "./CRASH.so: alloc of 1000 bytes, block 0: its process died of signal 11 (Segmentation fault)"
bad EXIT "./EXIT.so: alloc of 1000 bytes, block 0: its process ended with status 3"
bad FREE_CRASH "./FREE_CRASH.so: free of 1000 bytes, block 0: its process died of signal 6 (Aborted)"
bad HANG "./HANG.so: alloc of 1000 bytes, block 0: its process did not answer within 10 s"
bad ENDLESS "./ENDLESS.so: alloc of 1000 bytes, block 0: it asks the device again and again, without end"
bad TALKS "./TALKS.so: alloc of 1000 bytes, block 0: its process died of signal 25 (File size limit exceeded)"
bad SIZE "./SIZE.so: alloc of 1000 bytes, block 0: it says that the block has 999 bytes"
bad OVERLAP "./OVERLAP.so: alloc of 600 bytes, block 1: 1024 bytes at 0x700000000000 overlap a block of 1024 at 0x700000000000 that is in use"
bad OUTSIDE "./OUTSIDE.so: alloc of 1000 bytes, block 0: 0x700003fffe00 to 0x700004000200 is not memory that it took from the device"
bad WRAPS "./WRAPS.so: alloc of 1000 bytes, block 0: 0x700000000000 to 0x6ffffffffe00 is not memory that it took from the device"
bad NOTHING "./NOTHING.so: alloc of 1000 bytes, block 0: it asks the device for 0 bytes"
bad PAGES "./PAGES.so: alloc of 1000 bytes, block 0: 2097152 bytes at 0x700000000000 are not whole pages of addresses that it reserved"
bad MAPS_TWICE "./MAPS_TWICE.so: alloc of 1000 bytes, block 0: 0x780000200000 has memory already"
bad UNMAPS "./UNMAPS.so: alloc of 1000 bytes, block 0: it unmaps 0x780000400000, which has no memory"
bad UNMAPS_USED "./UNMAPS_USED.so: free of 1000 bytes, block 0: it releases memory with a block of 1024 bytes at 0x780000a00000 that is in use"
bad FREES_PAGES "./FREES_PAGES.so: alloc of 1000 bytes, block 0: it releases 0x780000000000, which it did not get from the device"
bad TOO_EARLY "./TOO_EARLY.so: alloc of 1000 bytes, block 0: 0x700000000000 to 0x700000000400 is not memory that it took from the device"
bad FREE "./FREE.so: free of 1000 bytes, block 0: it releases 0x700000000200, which it did not get from the device"
bad GIVES_USED "./GIVES_USED.so: free of 1000 bytes, block 0: it releases memory with a block of 1024 bytes at 0x700000000400 that is in use"

# ---- files that are not engines ----

# refused NAME STATUS SENTENCE
refused() {
	"$build/gpupool" replay t.json --engine "$1" > said 2> error
	code=$?
	if [ $code -eq "$2" ] && head -n 1 error | grep -q "$3"; then
		echo "ok engine_library $1 is refused"
	else
		echo "FAIL engine_library $1: exit status $code"
		cat error
	fi
}

echo text > text.so
refused ./missing.so 3 "^gpupool: ./missing.so: it cannot be loaded: ./missing.so: "
refused text.so 3 "^gpupool: ./text.so: it cannot be loaded: ./text.so: "
# The machine's number, in the ELF header.
printf '\363\0' | dd of=SIZE.so bs=1 seek=18 conv=notrunc 2> /dev/null
refused ./SIZE.so 3 "^gpupool: ./SIZE.so: it cannot be loaded: it is for another processor: ELF machine 243, and this is [0-9]*$"
refused libc.so.6 2 "^gpupool: replay: there is no engine libc.so.6"

# ---- an engine that serves ----

check() {
	if diff want said > differ; then
		echo "ok engine_library $1"
	else
		echo "FAIL engine_library $1"
		cat differ
	fi
}

# What the engine is told about marks, and what it says about its largest free
# block.
library MARKS.so "$root/tests/cli/bad_engine.c" -DBAD_MARKS
cat > m.json << 'END'
{"format": "gpupool-trace", "version": 1, "devices": [{"device": 0, "events": [
{"op": "alloc", "id": 1, "size": 1000}, {"op": "mark", "name": "step 1"},
{"op": "alloc", "id": 2, "size": 70000000}, {"op": "mark", "name": "step 2"}]}]}
END
"$build/gpupool" replay m.json --engine ./MARKS.so --capacity 32MiB \
	--format json | sed -n 's/.*"largest_free_bytes": \([1-9]\)/\1/p' > said
cat marks >> said
printf '12345,\nstep 1\nstep 2\n' > want
check "one that takes marks and knows its largest free block"

library first_fit.so "$root/examples/engine/first_fit.c" -Wall -Wextra -Werror
"$build/gpupool" replay t.json --engine first_fit.so --events - |
	sed 's/.*"action":"\([a-z_]*\)","addr":\([0-9]*\),"size":\([0-9]*\).*/\1 \2 \3/' > said
cat > want << 'END'
segment_map 131941395333120 2097152
alloc 131941395333120 1000
alloc 131941395334144 600
free_requested 131941395333120 1000
free_completed 131941395333120 1000
END
check "first fit serves"
# A sweep can include it, on several threads as on one.
"$build/gpupool" gen ragged -o ragged.json > gen_said 2>&1
for jobs in 1 3; do
	"$build/gpupool" sweep ragged.json -q --jobs $jobs --format csv \
		--engine "caching,$work/../${work##*/}/first_fit.so,first-fit" |
		tee "sweep.$jobs" | grep first.fit | cut -d , -f 6-14 | sort -u |
		wc -l
done > said
cmp sweep.1 sweep.3 >> said
printf '1\n1\n' > want
check "a sweep takes it"
# ---- the rules for engines ----

"$build/gpupool" check-engine ./first_fit.so | tail -n 1 > said
echo "7 of 7 promises kept" > want
check "first fit keeps its promises"

# breaks KIND LINE: what check-engine reports about a bad engine.
breaks() {
	COLUMNS=300 "$build/gpupool" check-engine "./$1.so" > said 2> error
	code=$?
	if grep -q -- "^WRONG.*$2" said && [ $code -eq 1 ]; then
		echo "ok engine_library check-engine $1"
	else
		echo "FAIL engine_library check-engine $1"
		cat said error
	fi
}

breaks CRASH "serves every request.*: its process died of signal 11"
breaks OVERLAP "overlap a block of"
# A process forked by a library neither answers nor stays.
library FORKS.so "$root/tests/cli/bad_engine.c" -DBAD_FORKS
"$build/gpupool" replay t.json --engine ./FORKS.so > said 2> error ||
	{ echo "FAIL engine_library forks: $(cat error)"; exit 1; }
# is_there: the process runs, and is not a zombie.
is_there() {
	! grep -q '^State:.*[ZX]' "/proc/$(cat left)/status" 2> /dev/null &&
		kill -0 "$(cat left)" 2> /dev/null
}
for _ in $(seq 100); do
	is_there || break
	sleep 0.2
done
if is_there; then
	echo "FAIL engine_library a process that a library started is left"
	exit 1
fi
echo "ok engine_library what a library forks ends with it"
library NONE.so "$root/tests/cli/bad_engine.c" -DBAD_NONE
breaks NONE "releases all memory .* is not memory that it took"
library LEAKS.so "$root/tests/cli/bad_engine.c" -DBAD_LEAKS
breaks LEAKS "releases all memory when nothing is in use, or says why not: [1-9][0-9]* bytes remain"
library DRAWS.so "$root/tests/cli/bad_engine.c" -DBAD_DRAWS
breaks DRAWS "makes the same decisions in every run: the second run was"
# A test of an engine that hangs ends after a single timeout.
COLUMNS=300 timeout 50 "$build/gpupool" check-engine ./HANG.so 2> error |
	grep -c 'did not answer' > said
echo "7" > want
check "check-engine waits once for one that hangs"

"$build/gpupool" check-engine ./LEAKS.so > said 2> error
echo $? > said
tail -n 1 error >> said
printf '1\ngpupool: ./LEAKS.so: 1 of 7 promises are not kept\n' > want
check "check-engine says how many promises are not kept"

# Another implementation of the same allocator, in this program: every action is
# equal.
for trace in "$root"/traces/recorded/*.gz "$root"/traces/recorded/*.zst; do
	for engine in first-fit ./first_fit.so; do
		"$build/gpupool" replay "$trace" --engine $engine --events - |
			cksum
	done > sums
	sed -n 1p sums > want
	sed -n 2p sums > said
	check "first fit twice: ${trace##*/}"
done
