#!/bin/sh
# SPDX-License-Identifier: MIT
# Every file in traces/bad is refused with exit 3, with nothing on standard
# output, and with the words that the file asks for in its first line,
#
#	{"expect": "event 2: free of id 7, which is not live", ...
#
# or, where a first line cannot say so, in FILE.expect beside it.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
program=${BUILD:-$root/build}/gpupool
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
failed=0

expected() {
	if [ -e "$1.expect" ]; then
		head -n 1 "$1.expect"
	else
		head -n 1 "$1" |
			sed -n 's/.*"expect": *"\([^"]*\)".*/\1/p'
	fi
}

fail() {
	echo "FAIL $1: $2"
	sed 's/^/	/' "$work/err" | head -n 5
	failed=1
}

run() {
	name=$(basename "$1")
	want=$(expected "$1")
	"$program" replay "$1" > "$work/out" 2> "$work/err" < /dev/null
	code=$?
	if [ -z "$want" ]; then
		fail "$name" "it does not say which error is expected"
	elif [ "$code" -ne 3 ]; then
		fail "$name" "exit $code, not 3"
	elif [ -s "$work/out" ]; then
		fail "$name" "something was written to standard output"
	elif ! grep -qF -- "$want" "$work/err"; then
		fail "$name" "its error does not say: $want"
	else
		echo "ok $name"
	fi
}

for file in "$root"/traces/bad/*; do
	case $file in
	*.expect | *.md) continue ;;
	esac
	[ -f "$file" ] && run "$file"
done
exit "$failed"
