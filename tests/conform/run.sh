#!/bin/sh
# SPDX-License-Identifier: MIT
# Generated trials on our engine and on PyTorch's own, side by side:
#
#	tests/conform/run.sh [RELEASE...]
#
# CASES trials from SEED on, of the class CLASS or of all, on JOBS processes.
# A release that is not prepared (make torch-engine) is named and counts as
# skipped.  Trials that differ are cut down and written to BUILD/conform.  The
# last line is "N passed, N failed, N skipped"; each trial counts once for each
# release.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-build}
cases=${CASES:-2000} seed=${SEED:-0}
engines=${ENGINES:-$root/build/torch}
jobs=${JOBS:-$(nproc 2> /dev/null || echo 1)}
cd "$root" || exit 1
out=$build/conform
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
mkdir -p "$out"
unset PYTORCH_CUDA_ALLOC_CONF PYTORCH_ALLOC_CONF

ready=
missing=0
for release in "${@:-2.15.0}"; do
	if [ -x "$engines/$release/gpupool-torch" ]; then
		ready="$ready $release"
	else
		echo "skip PyTorch $release: it is not prepared:" \
			"make torch-engine TORCH=$release"
		missing=$((missing + 1))
	fi
done
if [ -z "$ready" ]; then
	echo "0 passed, 0 failed, $missing skipped"
	exit 0
fi

# Each job has seeds of its own.
each=$(((cases + jobs - 1) / jobs))
job=0
while [ "$((job * each))" -lt "$cases" ]; do
	left=$((cases - job * each))
	[ "$left" -lt "$each" ] || left=$each
	# The releases are a list.
	# shellcheck disable=SC2086
	"$build/tests/conform/drive" --engines "$engines" --out "$out" \
		--seed "$((seed + job * each))" --cases "$left" \
		${CLASS:+--class "$CLASS"} $ready > "$work/$job.log" 2>&1 &
	job=$((job + 1))
done
wait

# The jobs' lines, and the sum of their counts for each release.  A job that
# ended without printing its counts is a failure.
awk -v jobs="$job" -v missing="$missing" '
/^[0-9]+ passed, / {
	passed += $1
	failed += $3
	skipped += $5
	ended++
	next
}
/^PyTorch .*: / {
	release = $2
	if (!(release in counts))
		order[++releases] = release
	sub(/^PyTorch [^ ]* /, "")
	n = split($0, parts, "; *")
	for (i = 1; i <= n; i++) {
		if (parts[i] == "")
			continue
		count = parts[i] + 0
		sub(/^[0-9]* /, "", parts[i])
		if (!((release, parts[i]) in sums))
			counts[release] = counts[release] SUBSEP parts[i]
		sums[release, parts[i]] += count
	}
	next
}
{ print }
END {
	for (r = 1; r <= releases; r++) {
		n = split(counts[order[r]], names, SUBSEP)
		line = "PyTorch " order[r]
		for (i = 2; i <= n; i++)
			line = line (i > 2 ? "; " : " ") \
				sums[order[r], names[i]] " " names[i]
		print line
	}
	failed += jobs - ended
	printf "%d passed, %d failed, %d skipped\n", passed, failed,
		skipped + missing
	exit failed > 0
}' "$work"/*.log
