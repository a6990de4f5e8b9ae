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
It is looked for in a second or so for each trace. `gpupool floor`, which
looks longer, finds a lower one for 17 of these 70: by 6 % or 7 % for `fsdp-2.4` to
`fsdp-2.15`, 4 % for `language-bert-sgd`, 2 % for `gpt2-ragged`, less than 1 % for the
others. As low as the bytes that are live at once, and so the lowest there is, are 47
of the packings here and 57 of its own.

- `caching` is PyTorch's allocator, as each program was recorded with it, and
  once more with expandable segments. It has a second pool for small blocks, and
  maps large blocks by pages of 20 MiB.
- Changes that others propose for PyTorch's allocator are settings of `caching`.
  `caching:reuse_oversize=true`
  ([#193400](https://github.com/pytorch/pytorch/pull/193400)): with
  `max_split_size_mb` of 64, 128 or 512 beside expandable segments these programs
  reserve 56 %, 47 % or 10 % more on average than with expandable segments alone;
  with it, as much as these alone. `caching:ties=...`, which of equal free blocks
  is taken: the mean is the same to three digits whichever rule decides.
  `caching:search_again=true`
  ([#191302](https://github.com/pytorch/pytorch/pull/191302)): the same retries and
  OOMs in 420 replays of these traces on 80 %, 90 % and 95 % of what they reserve.
  It needs frees that are pending when memory runs out: of 1,476,396 releases of
  cached memory 53 had any, all in one program; so waiting for some of them only
  ([#171771](https://github.com/pytorch/pytorch/issues/171771)) is left out. What
  that saves is time on a GPU, besides, which a trace does not tell.
- `caching:device=hip`, `xpu` or `npu` is PyTorch's allocator of AMD's, Intel's or
  Ascend's devices where its source decides otherwise, as the report says of it; no
  run of them is compared here. AMD's is CUDA's source, with expandable segments
  from 2.12 on
  ([#177974](https://github.com/pytorch/pytorch/pull/177974)); its snapshots are of
  CUDA's format and need no setting. Intel's (`c10/xpu/XPUCachingAllocator.cpp`)
  has expandable segments from 2.10 on
  ([#166292](https://github.com/pytorch/pytorch/pull/166292)), none of CUDA's other
  settings, and takes the lowest of equal free blocks. Ascend's
  (`torch_npu/csrc/core/npu/NPUCachingAllocator.cpp`) adds 32 bytes to each request,
  on devices before Ascend950, and takes the lowest as well; its own settings
  `page_size`, `segment_size_mb`, `base_addr_aligned_kb` and
  `multi_stream_lazy_reclaim` are not here.
- `direct` has no cache: one cudaMalloc a request. It may be below the floor, for
  its blocks need not lie in one range; its price is the time in device calls.
- `first-fit`, `best-fit`, `next-fit` and `tlsf` have one heap for each stream and
  pool, which grows at its end by pages of 2 MiB, and does not shrink but when
  the program empties the cache: so many maps, at 0.2 ms each.
- `stitch` is GMLake: pages of 2 MiB out of free blocks, mapped behind each other.
  GMLake leaves pages mapped where they were as well and so calls less often. Its
  paper has 9.2 GB less reserved and 15 % less fragmentation than PyTorch, on average
  over eight programs of tens of GB. Here, over programs of some GiB, 14 % less is
  reserved; what is not live of what is reserved at most falls from 24.3 % to 11.8 %.
  Expandable segments, which PyTorch had not then, reserve 12 % less and leave 14.0 %.
  Against them `stitch` reserves 4 % of the floor less on average (1.140 to 1.180),
  less on 42 of the traces and more on 26, for 25 times as many pages mapped and
  unmapped. On programs as large as its paper's, [below](#the-papers-programs), it
  saves what the paper has, and expandable segments most of that.
- `plan` knows all lifetimes from the start, as STAlloc's plan does those of a step
  that it profiled, and packs each stream and pool apart; the floor is its limit.
  Of what caching reserves beyond the bytes that are live it saves 87 % on average
  over these traces, where STAlloc's paper has 85.1 % over its own, larger ones;
  expandable segments save 43 %, and first fit, which knows nothing, 68 %. A plan
  that does not know one request in twenty (`plan:known=0.95`) saves 29 % where
  these are served first fit in its gaps, as they take the places of others. STAlloc
  profiles for how long such requests live as well, and serves them where the plan
  is idle for that time: with that (`plan:known=0.95:rest=idle`) 72 % are saved,
  and of one in ten 59 %. So a plan is worth more than first fit where it knows
  nearly all. STAlloc's groups of lifetimes are coarser than each one's own, which
  is taken here, and so save no more than that.
- `buddy`, `slab` and `arena` round up to a power of two, keep sizes apart, and
  use nothing again before the next mark of a step.
- `bfc` is the allocator of JAX and TensorFlow, growing as it needs to, and `cupy`
  CuPy's pool; both ask cudaMalloc, and cut blocks out of what it gave. JAX as it is
  set takes 75 % of the device at its first request, whatever the program asks for
  (`bfc:preallocate=true:fraction=0.75:garbage_collection=false`).
  `tests/cli/wheel_engines.sh` holds `bfc` to jaxlib 0.10.2 itself, which runs there
  over a CUDA driver without a device: the same addresses, the same regions and the
  same `memory_stats()`, with and without preallocation, and where memory runs out.
  Arrays stand for blocks; no kernel is compiled or run.

END
"$program" compare -q --markdown traces/recorded traces/recorded/programs \
	traces/recorded/corpus
cat << 'END'

## The papers' programs

Models that the papers of GMLake and STAlloc train, at their sizes, on an A100 of
80 GB: rank 0 of 1, 4, 8 or 16, with FSDP2 where there are several, four steps
each (`tests/record/corpus/papers.py`; the numbers of a name are ranks and
batch). Those of GMLake are fine-tunings with LoRA, recomputation or neither; here
their batches are ragged, as texts are. Those of STAlloc are of one length; its
pipelines, and offloading, are not here. Less reserved than caching, on average and
at most; and what is not live, of what is reserved at most:

END
"$program" compare -q --format csv traces/recorded/papers | awk -F , '
function name() { return $3 ($4 ~ /expandable/ ? " expandable" : "") }
NR > 1 && name() ~ /^(caching|caching expandable|stitch|plan)$/ {
	paper = $1 ~ /ragged/ ? "GMLake" : "STAlloc"
	if (name() == "caching") {
		cached = $5
		programs[paper]++
	}
	saved = (cached - $5) / 1e9
	sum[paper, name()] += saved
	if (saved > most[paper, name()])
		most[paper, name()] = saved
	fragmentation[paper, name()] += 1 - $14 / $5
	calls[paper, name()] += $8
}
END {
	print "| | GB less, mean and most | fragmentation | device calls |"
	print "|---|--:|--:|--:|"
	split("GMLake,STAlloc", papers, ",")
	split("caching,caching expandable,stitch,plan", engines, ",")
	for (p = 1; p <= 2; p++)
		for (e = 1; e <= 4; e++) {
			paper = papers[p]
			engine = engines[e]
			printf "| %d of %s, %s | %.1f, %.1f | %.1f %% | %d |\n",
				programs[paper], paper, engine,
				sum[paper, engine] / programs[paper],
				most[paper, engine],
				100 * fragmentation[paper, engine] / programs[paper],
				calls[paper, engine]
		}
}'
cat << 'END'

GMLake's paper has 9.2 GB less than PyTorch on average, 25 GB at most. So it does
here; of its 10.4 GB expandable segments save 8.7, with one in 160 of its calls.
STAlloc's has 85.1 % of the fragmentation gone, over programs that PyTorch serves
with up to 43 % of it; here 14 % becomes 9 %, as a plan of each stream and pool
apart leaves some.

END
"$program" compare -q --markdown traces/recorded/papers
