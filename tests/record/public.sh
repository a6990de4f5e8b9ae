#!/bin/sh
# SPDX-License-Identifier: MIT
# Searches for the contents of a published snapshot in a trace of the same
# program:
#
#	tests/record/public.sh SNAPSHOT TRACE
#
# A snapshot is a window of the run, so the place in the trace where most of it
# follows is taken.  Prints how much is equal, request by request (allocation,
# free, segment; with its size, in order), and where the first difference is.
# Exit status 1: there is one.  Traces of other formats are read as well.
set -eu

[ $# = 2 ] || {
	echo "usage: tests/record/public.sh SNAPSHOT TRACE" >&2
	exit 2
}
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT

# "alloc 512", one per line; a block from before has no size: "free ?"
steps()
{
	gpupool convert -q "$1" "$temporary/trace.jsonl"
	awk '
	function number(name) {
		if (!match($0, "\"" name "\":[0-9]+"))
			return ""
		return substr($0, RSTART + length(name) + 3,
			      RLENGTH - length(name) - 3)
	}
	!/^{"op":"(alloc|free|segment)/ { next }
	{
		op = substr($0, 8)
		op = substr(op, 1, index(op, "\"") - 1)
		id = number("id")
		if (op == "alloc")
			size[id] = number("size")
		if (id == "")
			print op, number("size")
		else
			print op, (id in size) ? size[id] : "?"
	}' "$temporary/trace.jsonl"
}

steps "$1" >"$temporary/published"
steps "$2" >"$temporary/own"
awk '
function same(a, b) {
	return a == b || (a == "free ?" && b ~ /^free/)
}
NR == FNR { published[n++] = $0; next }
{ own[m++] = $0 }
END {
	most = -1
	for (i = 0; i < m && most < n; i++) {
		for (k = 0; k < n && same(published[k], own[i + k]); k++)
			;
		if (k > most) {
			most = k
			at = i
		}
	}
	if (most == n) {
		print n " of " n " equal, from " at + 1 " of " m
		exit
	}
	print most " of " n " equal, from " at + 1 " of " m ", then"
	print "  published: " published[most]
	print "  recorded:  " (at + most < m ? own[at + most] : "nothing")
	exit 1
}' "$temporary/published" "$temporary/own"
