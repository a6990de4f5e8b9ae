#!/bin/sh
# SPDX-License-Identifier: MIT
# The page docs/releases.md, from the traces of the tree, on standard output:
# scripts/releases.sh PROGRAM ONE_CHANGE.  ONE_CHANGE is
# tests/tools/one_change.c, built: it finds the change of a release that is the
# reason.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
program=$(cd "$(dirname "$1")" && pwd)/${1##*/}
one_change=$(cd "$(dirname "$2")" && pwd)/${2##*/}
cd "$root"
releases=2.0,2.1,2.2,2.3,2.4,2.5,2.6,2.7,2.8,2.9,2.10,2.11,2.12,2.13,2.14,2.15

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# reasons TRACE CONF ROW: a line for each release from which on another amount
# is reserved.
reasons() {
	printf '%s\n' "$3" | grep -o '; 2\.[0-9]*' | while IFS=. read -r _ minor; do
		printf '2.%s | %s\n' "$minor" \
			"$("$one_change" "$1" "$2" "$minor")"
	done
}

for trace in traces/recorded/*.* traces/recorded/programs/* \
	traces/recorded/corpus/*; do
	for conf in "" expandable_segments:True; do
		row=$("$program" sweep -q "$trace" --alloc-conf "$conf" \
			--set torch=$releases --format csv 2> /dev/null |
			awk -f scripts/releases.awk -v trace="${trace##*/}" \
				-v settings="$conf")
		printf '%s\n' "$row" >> "$work/rows"
		reasons "$trace" "$conf" "$row" >> "$work/reasons"
	done
done

cat << END
# One program, the releases of PyTorch

The peak of reserved memory under each release from 2.0 to 2.15, for the recorded
programs of this tree on the device of their recording. The requests are the same for
each release, so all differences are due to the allocator. \`make table\` writes this
page; \`gpupool sweep TRACE --set torch=2.11,2.12\` compares releases for one trace.

Of $(wc -l < "$work/rows") runs, a trace under default settings or with expandable segments,
$(grep -c '^same' "$work/rows") reserve the same in each release that has the setting. The others:

| trace | settings | peak reserved |
|---|---|---|
END
grep '^|' "$work/rows" || true
cat << 'END'

Each difference has a single cause: if just this change is removed from the release
that introduced it, the result is that of the previous release.

| release | change | runs |
|---|---|--:|
END
sort -t . -k 2n "$work/reasons" | uniq -c |
	sed 's/^ *\([0-9]*\) \(.*\)/| \2 | \1 |/'
cat << 'END'

- **2.3**: torch.compile routes the allocations around its graphs to the graphs' pool;
  up to 2.2 they were made from the default pool.
- **2.5**: before, pools of captured graphs had segments from cudaMalloc even with
  expandable segments.
- **2.12** and **2.13**: the choice between equal free blocks determines which
  neighbours stay free, and so how blocks coalesce: the effect on the peak is
  arbitrary.

No release reserves more than the previous one on all programs.
END
