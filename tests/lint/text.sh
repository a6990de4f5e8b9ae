#!/bin/sh
# SPDX-License-Identifier: MIT
# The form of files: clang-format's layout, 80 columns, 1,000 lines, no trailing
# spaces; scripts pass shellcheck.
set -u

cd "$(dirname "$0")/../.." || exit 1
. tests/lint/common.inc

c_files() {
	find src include tests -name '*.[ch]' -o -name '*.cc' \
		-o -name '*.hh' | sort
}

scripts() {
	find tests scripts -name '*.sh' -o -name '*.inc' | sort
	[ ! -e .ci/run ] || echo .ci/run
}

# The output of clang-format depends on its release: 14 is used.
if has_command clang-format-14; then
	format=clang-format-14
elif clang-format --version 2> /dev/null | grep -q 'version 14\.'; then
	format=clang-format
else
	format=
fi
if [ -n "$format" ]; then
	c_files | xargs "$format" --dry-run -Werror 2>&1 |
		grep 'error:' > "$work/said"
	verdict format "make format puts these right"
else
	echo "skip format: clang-format 14 is not on this machine"
fi

# Continuation bytes of UTF-8 take no column.
for file in $(c_files); do
	LC_ALL=C tr -d '\200-\277' < "$file" | expand |
		awk -v file="$file" 'length > 80 { print file ":" NR }'
done > "$work/said"
verdict columns "lines are longer than 80 columns"

for file in $(c_files) $(scripts); do
	awk -v file="$file" '!/SPDX-License-Identifier/ { n++ }
		END { if (n > 1000) print file ": " n }' "$file"
done > "$work/said"
verdict lines "files are longer than 1000 lines"

# shellcheck disable=SC2046
grep -n '[ 	]$' $(c_files) $(scripts) Makefile man/*.[1-9] README.md \
	> "$work/said"
verdict trailing-spaces "spaces at the end of a line"

if has_command shellcheck; then
	# shellcheck disable=SC2046
	shellcheck -x -S warning -f gcc $(scripts) > "$work/said"
	verdict shellcheck "scripts are not as shellcheck likes them"
else
	echo "skip shellcheck: it is not on this machine"
fi
exit "$failed"
