#!/bin/sh
# SPDX-License-Identifier: MIT
# Doxygen has nothing to say about the comments of the public headers.
set -u

cd "$(dirname "$0")/../.." || exit 1
. tests/lint/common.inc

if ! has_command doxygen; then
	echo "skip api: doxygen is not on this machine"
	exit
fi
{
	cat docs/Doxyfile
	echo "OUTPUT_DIRECTORY = $work/api"
} > "$work/Doxyfile"
mkdir "$work/api"
doxygen "$work/Doxyfile" > "$work/said" 2>&1 || echo "it failed" >> "$work/said"
verdict api "comments of the public headers have mistakes"
ls "$work/api/html/allocator_8h.html" > /dev/null 2> "$work/said"
verdict api-pages "the reference has no page for a header"
exit "$failed"
