#!/bin/sh
# SPDX-License-Identifier: MIT
# The page docs/releases.md, from the traces of the tree, on standard output:
# scripts/releases.sh PROGRAM.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
program=$(cd "$(dirname "$1")" && pwd)/${1##*/}
cd "$root"
releases=2.0,2.1,2.2,2.3,2.4,2.5,2.6,2.7,2.8,2.9,2.10,2.11,2.12,2.13,2.14,2.15

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

for trace in traces/recorded/*.* traces/recorded/programs/* \
	traces/recorded/corpus/*; do
	for conf in "" expandable_segments:True; do
		"$program" sweep -q "$trace" --alloc-conf "$conf" \
			--set torch=$releases --format csv 2> /dev/null |
			awk -f scripts/releases.awk -v trace="${trace##*/}" \
				-v settings="$conf"
	done
done > "$work/rows"

cat << END
# One program, the releases of PyTorch

What each release from 2.0 to 2.15 reserves at most for the recorded programs of
this tree, on the device that they were recorded with. The same requests, whatever
release made them: what differs is the allocator's. \`make table\` writes this
page; \`gpupool sweep TRACE --set torch=2.11,2.12\` tells it of a trace.

Of $(wc -l < "$work/rows") runs, a trace under default settings or with expandable segments,
$(grep -c '^same' "$work/rows") reserve the same in each release that has the setting. The others:

| trace | settings | peak reserved |
|---|---|---|
END
grep '^|' "$work/rows" || true
cat << 'END'

What they come from, as `gpupool help releases` lists it:

- **2.3**: what a thread allocates outside of a capture can be routed to a pool, as
  torch.compile does around its graphs; up to 2.2 it came out of the common pool.
- **2.5**: the pools of CUDA graphs have expandable segments; before, a program
  that captures graphs with this setting had cudaMalloc's segments in them.
- **2.12** alone takes, of free blocks of the same size, the one whose object was
  made first, and no longer the lowest address; from 2.13 on it is the segment
  that is the oldest. Which neighbours stay free, and so how they merge, follows
  from it: by chance more or less.

No release reserves more than the one before on all programs.
END
