#!/bin/sh
# SPDX-License-Identifier: MIT
# The table of docs/engines.md, from the recorded traces of the tree, on
# standard output: scripts/table.sh PROGRAM.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
program=$(cd "$(dirname "$1")" && pwd)/${1##*/}
cd "$root"

cat << 'END'
# Allocators side by side

What each allocator that comes along would have done with the recorded programs
of this tree, each with the device and the settings that it was recorded with.
`make table` writes this page; `gpupool compare traces/recorded/programs` shows
such tables in a terminal, and gpupool-compare(1) says what the columns are.

The floor of a trace is a packing of the same lifetimes, made with all of them
known. A multiple of it is what not knowing the future, streams, pools and
rounding cost.

- `caching` is PyTorch's allocator, as each program was recorded with it, and
  once more with expandable segments. It has a second pool for small blocks, and
  maps large blocks by pages of 20 MiB.
- `direct` has no cache: one cudaMalloc a request. It may be below the floor, for
  its blocks need not lie in one range; its price is the time in device calls.
- `first-fit`, `best-fit`, `next-fit` and `tlsf` have one heap for each stream and
  pool, which grows at its end by pages of 2 MiB, and does not shrink but when
  the program empties the cache: so many maps, at 0.2 ms each.
- `stitch` is GMLake: pages of 2 MiB out of free blocks, mapped behind each other.
  GMLake leaves pages mapped where they were as well and so calls less often.
  Against expandable segments it reserves 4 % of the floor less on average (1.140 to
  1.180), less on 42 of the traces and more on 26, for 25 times as many pages mapped
  and unmapped: where expandable segments can be set, it is worth little.
- A plan of all lifetimes, as STAlloc makes one, has the floor itself as its limit:
  what is more than 1 in the table is the most that it could save.
- `buddy`, `slab` and `arena` round up to a power of two, keep sizes apart, and
  use nothing again before the next mark of a step.
- `bfc` is the allocator of JAX and TensorFlow, growing as it needs to, and `cupy`
  CuPy's pool; both ask cudaMalloc, and cut blocks out of what it gave.

END
"$program" compare -q --markdown traces/recorded traces/recorded/programs \
	traces/recorded/corpus
