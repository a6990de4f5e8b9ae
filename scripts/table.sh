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

What each built-in allocator does with the recorded programs of this tree, each on
the device and with the settings of its recording. `make table` writes this page;
`gpupool compare traces/recorded/programs` shows such tables in a terminal, and
gpupool-compare(1) explains the columns.

The floor of a trace is the height of a packing of the same lifetimes, computed with
all of them known in advance. How much more an allocator reserves is the cost of not
knowing the future, of streams, pools and rounding. The search for a packing takes
about a second per trace. `gpupool floor` searches longer and finds a lower one for
17 of these 70: by 6 % or 7 % for `fsdp-2.4` to `fsdp-2.15`, 4 % for
`language-bert-sgd`, 2 % for `gpt2-ragged`, and less than 1 % for the others. 47 of
the packings here, and 57 of its own, are no higher than the peak of live bytes, and
therefore optimal.

- `caching` is PyTorch's allocator, once with the settings of the recording and
  once with expandable segments. It has a separate pool for small blocks, and maps
  large blocks in pages of 20 MiB.
- Proposed changes to PyTorch's allocator are settings of `caching`.
  `caching:reuse_oversize=true`
  ([#193400](https://github.com/pytorch/pytorch/pull/193400)): with
  `max_split_size_mb` of 64, 128 or 512 in addition to expandable segments, these
  programs reserve 56 %, 47 % or 10 % more on average than with expandable segments
  alone; with this setting, they reserve the same. `caching:ties=...`, the
  tie-breaking rule for equal free blocks: the mean is the same to three digits under
  each rule. `caching:search_again=true`
  ([#191302](https://github.com/pytorch/pytorch/pull/191302)): the same retries and
  OOMs in 420 replays of these traces with 80 %, 90 % and 95 % of the memory that
  they reserve. It only matters if frees are pending when memory runs out: of
  1,476,396 releases of cached memory, 53 had any, all in one program. For the same
  reason waiting for only some of them
  ([#171771](https://github.com/pytorch/pytorch/issues/171771)) is not modelled;
  besides, it would save time on a GPU, which a trace does not show.
- `caching:device=hip`, `xpu` or `npu` is PyTorch's allocator for AMD's, Intel's or
  Ascend's devices, where its source differs from CUDA's, as the report states; no
  runs on these devices are compared here. AMD's is CUDA's source, with expandable
  segments from 2.12 on
  ([#177974](https://github.com/pytorch/pytorch/pull/177974)); its snapshots have
  CUDA's format and need no setting. Intel's (`c10/xpu/XPUCachingAllocator.cpp`)
  has expandable segments from 2.10 on
  ([#166292](https://github.com/pytorch/pytorch/pull/166292)), none of CUDA's other
  settings, and takes the lowest of equal free blocks. Ascend's
  (`torch_npu/csrc/core/npu/NPUCachingAllocator.cpp`) adds 32 bytes to each request,
  on devices before Ascend950, and takes the lowest as well; its own settings
  `page_size`, `segment_size_mb`, `base_addr_aligned_kb` and
  `multi_stream_lazy_reclaim` are not modelled.
- `direct` has no cache: one cudaMalloc per request. It may be below the floor,
  because its blocks need not be in one address range; its cost is the time spent in
  device calls.
- `first-fit`, `best-fit`, `next-fit` and `tlsf` have one heap for each stream and
  pool. It grows at its end in pages of 2 MiB and only shrinks when the program
  empties the cache, hence the many maps, at 0.2 ms each.
- `stitch` is GMLake: pages of 2 MiB from free blocks, mapped one after the other.
  GMLake also keeps pages mapped at their former place, and so makes fewer calls. Its
  paper reports 9.2 GB less reserved and 15 % less fragmentation than PyTorch, on
  average over eight programs of tens of GB. Here, over programs of some GiB, 14 %
  less is reserved, and the part of peak reserved memory that is not live falls from
  24.3 % to 11.8 %. Expandable segments, which PyTorch did not have at that time,
  reserve 12 % less and leave 14.0 %. Compared with them `stitch` reserves 4 % of the
  floor less on average (1.140 instead of 1.180), less on 42 of the traces and more
  on 26, for 25 times as many pages mapped and unmapped. On programs as large as its
  paper's, [below](#the-papers-programs), it saves as much as the paper reports, and
  expandable segments save most of that.
- `plan` knows all lifetimes in advance, as STAlloc's plan knows those of a step that
  it profiled, and packs each stream and pool separately; the floor is its limit. Of
  what `caching` reserves beyond live bytes it saves 88 % on average over these
  traces, where STAlloc's paper reports 85.1 % over its own, larger ones. Expandable
  segments save 43 %, and first fit, which knows nothing in advance, 68 %. A plan that
  does not know one request in twenty (`plan:known=0.95`) saves 30 % if these are
  served first fit in its gaps, because they take the places of others. STAlloc also
  profiles the lifetimes of such requests, and serves them where the plan leaves
  memory idle for that time: this (`plan:known=0.95:rest=idle`) saves 72 %, and 59 %
  if one request in ten is not known. So a plan is better than first fit only if it
  knows nearly all requests. STAlloc uses the lifetimes of groups, which are coarser
  than the individual lifetimes used here, and so cannot save more.
- `buddy` rounds up to a power of two, `slab` keeps sizes apart, and `arena` reuses
  nothing before the next mark of a step.
- `bfc` is the allocator of JAX and TensorFlow, growing on demand, and `cupy` is
  CuPy's pool; both obtain memory with cudaMalloc and split it into blocks. With its
  default settings JAX takes 75 % of the device at its first request, whatever the
  program needs (`bfc:preallocate=true:fraction=0.75:garbage_collection=false`).
  `tests/cli/wheel_engines.sh` compares `bfc` with jaxlib 0.10.2 itself, which runs
  there on a CUDA driver without a device: the same addresses, the same regions and
  the same `memory_stats()`, with and without preallocation, and when memory runs out.
  The blocks are arrays; no kernel is compiled or run.

END
"$program" compare -q --markdown traces/recorded traces/recorded/programs \
	traces/recorded/corpus
cat << 'END'

## The papers' programs

The models that the papers of GMLake and STAlloc train, at their sizes, on an A100
with 80 GB: rank 0 of 1, 4, 8 or 16, with FSDP2 if there are several, four steps
each (`tests/record/corpus/papers.py`; the numbers in a name are ranks and batch
size). Those of GMLake are fine-tunings with LoRA, recomputation or neither; here
their batches are ragged, as real texts are. Those of STAlloc have sequences of equal
length; its pipelines and offloading are not included. The table shows how
much less memory is reserved than by `caching`, on average and at most, and the part
of peak reserved memory that is not live:

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

GMLake's paper reports 9.2 GB less than PyTorch on average, and 25 GB at most. The
result here is similar; of the 10.4 GB that `stitch` saves, expandable segments save
8.7 GB, with 1/160 of its calls. STAlloc's paper reports that 85.1 % of the
fragmentation disappears, for programs that have up to 43 % of it with PyTorch; here
14 % becomes 9 %, because separate plans for each stream and pool leave some
fragmentation.

END
"$program" compare -q --markdown traces/recorded/papers
