#!/bin/sh
# SPDX-License-Identifier: MIT
# Every source has its licence in its first lines, and every recording has a line
# with its own.
set -u

cd "$(dirname "$0")/../.." || exit 1
. tests/lint/common.inc

sources() {
	find src include tests scripts python \( -name '*.[ch]' -o -name '*.cc' \
		-o -name '*.hh' -o -name '*.sh' -o -name '*.inc' \
		-o -name '*.py' -o -name '*.js' -o -name '*.mjs' \
		-o -name '*.css' \) | sort
	echo Makefile
	[ ! -e .ci/run ] || echo .ci/run
}

for file in $(sources); do
	head -n 2 "$file" | grep -q 'SPDX-License-Identifier: MIT' ||
		echo "$file"
done > "$work/said"
verdict licence-sources "no SPDX-License-Identifier: MIT in the first lines"

for file in traces/recorded/*.*; do
	grep -qF "| ${file##*/} |" traces/README.md || echo "$file"
done > "$work/said"
verdict licence-traces "traces/README.md does not say source and licence"

{
	grep -q '^MIT License' LICENSE || echo LICENSE
	grep -q 'Apache License' traces/LICENSE-Apache-2.0.txt ||
		echo traces/LICENSE-Apache-2.0.txt
} > "$work/said" 2>&1
verdict licence-texts "the text of a licence is not there"
exit "$failed"
