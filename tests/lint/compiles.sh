#!/bin/sh
# SPDX-License-Identifier: MIT
# Sources that make tests does not build compile, too.
set -u

cd "$(dirname "$0")/../.." || exit 1
. tests/lint/common.inc

for folder in bench fault fuzz; do
	for source in tests/"$folder"/*.c; do
		"${CC:-cc}" -std=c11 -D_GNU_SOURCE -Iinclude -Isrc -Itests \
			-Wall -Wextra -Werror -fsyntax-only "$source"
	done > "$work/said" 2>&1
	verdict "compiles-$folder" "tests/$folder does not compile"
done
exit "$failed"
