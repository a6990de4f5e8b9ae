#!/bin/sh
# SPDX-License-Identifier: MIT
# The targets of make fuzz compile, which make tests does not build.
set -u

cd "$(dirname "$0")/../.." || exit 1
. tests/lint/common.inc

for target in tests/fuzz/*.c; do
	"${CC:-cc}" -std=c11 -D_GNU_SOURCE -Iinclude -Isrc -Itests -Wall -Wextra \
		-Werror -fsyntax-only "$target"
done > "$work/said" 2>&1
verdict fuzz "the fuzz targets do not compile"
exit "$failed"
