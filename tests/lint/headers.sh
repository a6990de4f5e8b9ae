#!/bin/sh
# SPDX-License-Identifier: MIT
# Every header compiles alone, and twice, with gcc and with clang.
set -u

cd "$(dirname "$0")/../.." || exit 1
. tests/lint/common.inc

compiles() {
	printf '#include "%s"\n#include "%s"\n' "$2" "$2" |
		"$1" -std=c11 -D_GNU_SOURCE -Iinclude -Isrc -Itests -Wall \
			-Wextra -Werror -fsyntax-only -x c -
}

for cc in gcc clang; do
	if ! has_command "$cc"; then
		echo "skip headers-$cc: $cc is not on this machine"
		continue
	fi
	for header in $(find include src tests -name '*.h' | sort); do
		name=${header#include/}
		name=${name#src/}
		compiles "$cc" "${name#tests/}"
	done > "$work/said" 2>&1
	verdict "headers-$cc" "headers do not compile alone"
done
exit "$failed"
