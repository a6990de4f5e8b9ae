#!/bin/sh
# Writes the stories: traces/stories/make.sh [FOLDER], this one unless given.
# Each is a program reduced to what its allocator saw; ../README.md tells them.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}

# story NAME DEVICE_MIB SITES < awk statements; sizes are MiB.
story() {
	program=$(cat)
	awk -v total="$2" -v sites="$3" '
	function bytes(mib) { return sprintf("%.0f", mib * 1048576) }
	function alloc(id, mib, site) {
		printf "{\"op\":\"alloc\",\"id\":%d,\"size\":%s,\"site\":%d}\n",
			id, bytes(mib), site
	}
	function release(id) { printf "{\"op\":\"free\",\"id\":%d}\n", id }
	function mark(name) { printf "{\"op\":\"mark\",\"name\":\"%s\"}\n", name }
	BEGIN {
		printf "{\"format\":\"gpupool-trace\",\"version\":1,"
		printf "\"source\":{\"kind\":\"gpupool-trace\",\"torch\":\"2.15\","
		printf "\"complete\":true},\"settings\":\"\",\"sites\":[%s],", sites
		printf "\"devices\":[{\"device\":0,\"total_memory\":%s}]}\n",
			bytes(total)
		'"$program"'
	}' > "$out/$1.jsonl"
}

# Sixty-four layers keep their activations through the forward pass.  The first
# batch is long; the second is shorter and cuts its blocks in two.
story reserved-but-unallocated 81920 \
	'"train.py:61 model.to(device)","model.py:88 forward","train.py:97 loss"' \
	<<'EOF'
		for (i = 0; i < 12; i++)
			alloc(i, i ? 3056 : 3044, 0)
		mark("step 1, 4,096 tokens")
		for (i = 100; i < 164; i++)
			alloc(i, 704, 1)
		for (i = 163; i >= 100; i--)
			release(i)
		mark("step 2, 2,443 tokens")
		for (i = 200; i < 264; i++)
			alloc(i, 420, 1)
		alloc(300, 50, 2)
		alloc(301, 1024, 2)
EOF

# A warm-up leaves one large segment, a hundred blocks fill it, every other one
# is freed, and something large comes.
story every-other-of-100 24576 \
	'"serve.py:20 warm_up","serve.py:44 load","serve.py:71 merge"' <<'EOF'
		alloc(1, 20000, 0)
		release(1)
		for (i = 0; i < 100; i++)
			alloc(100 + i, 200, 1)
		for (i = 0; i < 100; i += 2)
			release(100 + i)
		alloc(2, 8192, 2)
EOF

# What 4 GiB were is now 1, 2 and 1; the two outer ones are free.
story one-two-one-then-three 6144 \
	'"notebook:1 x","notebook:2 a, b, c","notebook:4 y"' <<'EOF'
		alloc(1, 4096, 0)
		release(1)
		alloc(2, 1024, 1)
		alloc(3, 2048, 1)
		alloc(4, 1024, 1)
		release(2)
		release(4)
		alloc(5, 3072, 2)
EOF

# Every half hour one prompt is a little longer than all before: its workspace
# fits into nothing that is cached, and a session stays at its end.
story service-drifts-by-night 45056 \
	'"serve.py:20 load","serve.py:52 prefill","serve.py:60 decode","serve.py:66 keep_session","serve.py:90 morning_batch"' \
	<<'EOF'
		for (i = 0; i < 21; i++)
			alloc(i, 1064, 0)
		alloc(21, 1204, 0)
		for (i = 1; i <= 20; i++) {
			hour = int(21 + i / 2) % 24
			mark(sprintf("%02d:%s", hour, i % 2 ? "30" : "00"))
			alloc(100, 838 + 8 * i, 1)
			release(100)
			alloc(101, 838 + 8 * i - 48, 2)
			alloc(200 + i, 48, 3)
			release(101)
		}
		mark("08:00")
		alloc(300, 4096, 4)
EOF
