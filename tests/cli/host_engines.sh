#!/bin/sh
# SPDX-License-Identifier: MIT
# Allocators of host programs, loaded as they are: they obey the rules for
# engines, and the memory that they report is compared with the resident memory
# that the system reports when all blocks are written to.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
cd "$work" || exit 1
if grep -q __asan_init "$build/gpupool" 2> /dev/null; then
	echo "skip host_engines: the sanitizer has an allocator of its own"
	exit
fi

# 700 blocks and their frees, in the same order in every run.
awk 'BEGIN {
	printf "{\"format\":\"gpupool-trace\",\"version\":1,\"devices\":" \
		"[{\"device\":0,\"total_memory\":1073741824,\"events\":["
	x = 1
	for (i = 1; i <= 700; i++) {
		x = (x * 1103515245 + 12345) % 2147483648
		size = 16 + x % (i % 3 ? 200000 : 3000)
		printf "%s{\"op\":\"alloc\",\"id\":%d,\"size\":%d}", \
			(i > 1 ? "," : ""), i, size
		if (i > 200 && i % 2)
			printf ",{\"op\":\"free\",\"id\":%d}", \
				(i % 4 == 1 ? i - 200 : i - 1)
	}
	print "]}]}"
}' > t.json

fail() {
	echo "FAIL host_engines $1"
	exit 1
}

# The most memory that ENGINE held, in KiB.
reserved() {
	"$build/gpupool" compare t.json -q --engine "$1" --format csv |
		awk -F , 'END { print int($5 / 1024) }'
}

# within LEAST MOST VALUE
within() {
	[ "$3" -ge "$1" ] && [ "$3" -le "$2" ]
}

# held ENGINE SLACK: slack is for its bookkeeping and reserve, in KiB.
held() {
	told=$(reserved "$1") seen=$(reserved "$1:count=smaps")
	[ "${seen:-0}" -gt 4096 ] || fail "$1 holds nothing"
	within $((seen * 85 / 100 - $2)) $((seen * 115 / 100 + $2)) "$told" ||
		fail "$1 says $told KiB, and $seen KiB are in memory"
	echo "ok host_engines $1 holds what it says"
}

check() {
	engine=$1
	if ! "$build/gpupool" check-engine "$engine" > said 2> error; then
		if grep -q 'apt-get install' said; then
			echo "skip host_engines $engine: $(grep -o \
				'lib.* cannot be loaded.*' said | head -n 1)"
			return
		fi
		cat said
		fail "check-engine $engine"
	fi
	echo "ok host_engines $engine keeps what engines promise"
	shift
	while [ $# -gt 0 ]; do
		held "$1" "$2"
		shift 2
	done
}

check glibc glibc 1024 glibc:mmap_threshold=65536 1024
check jemalloc jemalloc 6144 jemalloc:decay=now 6144
check tcmalloc tcmalloc 6144 tcmalloc:aggressive_decommit=true 6144
# It counts segments of 32 MiB, touched or not.
check mimalloc mimalloc 65536

# A request that fails costs nothing: 64 GiB are requested, and none of it is
# touched.
cat > big.json << 'END'
{"format": "gpupool-trace", "version": 1, "devices": [{"device": 0,
"total_memory": 107374182400, "events": [
{"op": "alloc", "id": 1, "size": 2000000000000}, {"op": "free", "id": 1},
{"op": "alloc", "id": 2, "size": 68719476736}, {"op": "free", "id": 2}]}]}
END
if "$build/gpupool" compare big.json -q --engine glibc --format csv \
	> said 2> error; then
	awk -F , 'END { exit !($10 == 1 && $5 >= 68719476736) }' said ||
		fail "64 GiB of 100"
else
	grep -q 'glibc: .*the system refuses so much memory' error ||
		fail "64 GiB are refused without a sentence: $(cat error)"
fi
echo "ok host_engines memory that is not touched costs nothing"

# Each stream has a thread: with a single arena for all of them, less is held.
awk 'BEGIN {
	printf "{\"format\":\"gpupool-trace\",\"version\":1,\"devices\":" \
		"[{\"device\":0,\"total_memory\":1073741824,\"events\":["
	for (i = 1; i <= 400; i++) {
		printf "%s{\"op\":\"alloc\",\"id\":%d,\"size\":90000," \
			"\"stream\":%d}", (i > 1 ? "," : ""), i, i % 8
		if (i % 8 == 0)
			printf ",{\"op\":\"free\",\"id\":%d}", i - 3
	}
	print "]}]}"
}' > t.json
many=$(reserved glibc) one=$(reserved glibc:arena_max=1)
[ "$one" -lt "$many" ] || fail "one arena: $one KiB, many: $many KiB"
echo "ok host_engines glibc:arena_max"
