#!/bin/sh
# SPDX-License-Identifier: MIT
# The edges between stages, as edges.txt has them.
set -u

cd "$(dirname "$0")/../.." || exit 1
. tests/lint/common.inc
rules=tests/lint/edges.txt

# The words after "$1 $2" in the rules; after "$1" if $2 is empty.
words_of() {
	awk -v rule="$1" -v who="$2" '
		$1 == rule && (who == "" || $2 == who) {
			for (i = who == "" ? 2 : 3; i <= NF; i++)
				print $i
		}' "$rules"
}

has() {
	case " $1 " in
	*" $2 "*) return 0 ;;
	esac
	return 1
}

# FILE:LINE:HEADER for each include of one of our files.
includes_of() {
	grep -Hn '^#include "' "$@" |
		sed 's/:#include "\([^"]*\)".*/:\1/'
}

may_include() {
	case $2 in
	gpupool/*) has "$allowed" "${2%.h}" || has "$allowed" '*' ;;
	base/* | "$1"/*) return 0 ;;
	*) has "$allowed" "${2%%/*}" || has "$allowed" '*' ;;
	esac
}

check_includes() {
	allowed=$(words_of layer "$1" | tr '\n' ' ')
	find "src/$1" -name '*.[ch]' | sort > "$work/files"
	[ -s "$work/files" ] || return
	if [ -z "$allowed" ]; then
		echo "src/$1 has no line in tests/lint/edges.txt"
		return
	fi
	# File names of ours hold no spaces.
	# shellcheck disable=SC2046
	includes_of $(cat "$work/files") |
		while IFS=: read -r file line header; do
			may_include "$1" "$header" ||
				echo "$file:$line: src/$1 may not" \
					"include $header"
		done
}

for folder in src/*/; do
	folder=$(basename "$folder")
	check_includes "$folder" > "$work/said"
	verdict "layer-$folder" "an include crosses a border"
done

includes_of include/gpupool/*.h | grep -v ':gpupool/' > "$work/said"
verdict layer-include "a contract includes what is private to a stage"

# The code without comments and strings, line by line.
code_of() {
	gcc -fpreprocessed -dD -E "$1" 2> /dev/null |
		awk -v file="$1" '
			/^# [0-9]+ "/ { line = $2; next }
			{
				gsub(/"[^"]*"/, "\"\"")
				print file ":" line++ ":" $0
			}'
}

# Uses of the names in a file (of functions: calls); members do not count.
uses_in() {
	file=$1
	shift
	[ $# -gt 0 ] || return
	names=$(echo "$@" | tr ' ' '|')
	code_of "$file" | grep -E \
		":.*(^|[^.>_[:alnum:]])(stdout|stderr|($names) *\\()" |
		grep -E "(^|[^.>_[:alnum:]])($names)([^_[:alnum:]]|\$)"
}

calls=$(words_of calls '')
find src -name '*.[ch]' ! -path 'src/commands/*' ! -path src/commands/main.c | sort |
	while read -r file; do
		excepted=$(words_of except "${file#src/}" | tr '\n' ' ')
		names=
		for name in $calls; do
			has "$excepted" "$name" || names="$names $name"
		done
		# A list.
		# shellcheck disable=SC2086
		uses_in "$file" $names
	done > "$work/said"
verdict calls "the library does what only the command line does"

unsafe=$(words_of unsafe '')
find src include tests -name '*.[ch]' | sort |
	while read -r file; do
		# A list.
		# shellcheck disable=SC2086
		uses_in "$file" $unsafe
	done > "$work/said"
verdict unsafe "a function that does not know how much room there is"

# Reports and errors are written through what makes them safe for a terminal and
# a log (base/safe.h), and are never cut without a message (base/text_sink.h).
{
	grep -nE 'gp_outlet_open\(.*options->output' src/commands/*.c |
		grep -v '^src/commands/output\.c:'
	grep -rnE '\bopen_memstream\(' src --include='*.c'
	find src/commands src/commands/main.c -name '*.c' -print | sort | xargs awk '
		/fprintf\(stderr/ { statement = ""; at = FILENAME ":" FNR; open = 1 }
		open { statement = statement $0 }
		open && /;/ {
			open = 0
			if (statement ~ /%[-0-9.*]*s/ &&
			    at !~ /commands\/(progress|gen)\.c:/)
				print at ": " statement
		}'
} > "$work/said"
verdict strangers "texts go past what makes them safe"

exit "$failed"
