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
  GMLake leaves pages mapped where they were as well and so calls less often. Its
  paper has 9.2 GB and 15 % less than PyTorch reserves, on average over programs of
  tens of GB; here, over programs of some GiB, it is 14 %, and 12 % for expandable
  segments, which PyTorch had not then. Against expandable segments it reserves 4 % of the floor less on average (1.140 to
  1.180), less on 42 of the traces and more on 26, for 25 times as many pages mapped
  and unmapped: where expandable segments can be set, it is worth little.
- `plan` knows all lifetimes from the start, as STAlloc's plan does those of a step
  that it profiled, and packs each stream and pool apart; the floor is its limit.
  Of what caching reserves beyond the bytes that are live it saves 87 % on average
  over these traces, where STAlloc's paper has 85.1 % over its own, larger ones;
  expandable segments save 43 %. But it has to know: of a plan that does not know
  one request in twenty, which is then served first fit in its gaps
  (`plan:known=0.95`), 29 % is left, less than of expandable segments. STAlloc
  serves those from groups of lifetimes that it also profiles; that is not here.
- `buddy`, `slab` and `arena` round up to a power of two, keep sizes apart, and
  use nothing again before the next mark of a step.
- `bfc` is the allocator of JAX and TensorFlow, growing as it needs to, and `cupy`
  CuPy's pool; both ask cudaMalloc, and cut blocks out of what it gave.

END
"$program" compare -q --markdown traces/recorded traces/recorded/programs \
	traces/recorded/corpus
