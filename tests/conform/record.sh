#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes tests/conform/golden/CLASS.txt again, from what PyTorch's own allocator
# does in each given RELEASE, or in all that are prepared:
#
#	tests/conform/record.sh [RELEASE...]
#
# CASES trials of each class (16), and a quarter as many of long ones.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-build}
cases=${CASES:-16}
engines=${ENGINES:-$root/build/torch}
cd "$root"

if [ $# -eq 0 ]; then
	for folder in "$engines"/*/gpupool-torch; do
		folder=${folder%/gpupool-torch}
		set -- "$@" "${folder##*/}"
	done
fi

mkdir -p tests/conform/golden
"$build/tests/conform/generate" --classes | while read -r class; do
	n=$cases
	[ "$class" != long ] || n=$(((cases + 3) / 4))
	file=tests/conform/golden/$class.txt
	{
		echo "# What PyTorch's own allocator did: see ../parts/golden.h"
		"$build/tests/conform/drive" --record --engines "$engines" \
			--class "$class" --cases "$n" "$@"
	} > "$file.new"
	mv "$file.new" "$file"
	echo "$class: $(grep -vc '^#' "$file") lines"
done
