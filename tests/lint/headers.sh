#!/bin/sh
# SPDX-License-Identifier: MIT
# Every header compiles alone, and twice, with gcc and with clang; the public
# ones as C++, too.
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
if has_command g++; then
	for header in include/gpupool/*.h; do
		printf '#include "%s"\n' "${header#include/}" |
			g++ -std=c++17 -Iinclude -Wall -Wextra -Werror \
				-fsyntax-only -x c++ -
	done > "$work/said" 2>&1
	verdict headers-c++ "public headers are not C++"
else
	echo "skip headers-c++: g++ is not on this machine"
fi
exit "$failed"
