#!/bin/sh
# SPDX-License-Identifier: MIT
# make conform for the releases with which every change is compared, within a
# fixed budget.  Missing releases are fetched, for up to FETCH_SECONDS each; a
# release that cannot be fetched is named and counts as skipped.
set -u

cd "$(dirname "$0")/../.." || exit 1
releases="2.15.0 2.11.0"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
trap 'exit 1' INT TERM

for release in $releases; do
	[ ! -x "build/torch/$release/gpupool-torch" ] || continue
	timeout "${FETCH_SECONDS:-600}" make torch-engine TORCH="$release" \
		> "$log" 2>&1 && continue
	echo "PyTorch $release could not be prepared:"
	tail -n 2 "$log" | sed 's/^/	/'
done
make conform TORCH="$releases" CASES=400 SEED=0
