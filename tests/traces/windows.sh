#!/bin/sh
# SPDX-License-Identifier: MIT
# Windows of generated programs: what is rebuilt of their start.  See
# windows.py.
set -u

here=$(cd "$(dirname "$0")" && pwd)
build=${BUILD:-$here/../../build}

if ! command -v python3 > /dev/null; then
	echo "skip windows: there is no python3"
	exit
fi
# The arguments are those of windows.py: seeds, and classes of programs.
python3 "$here/windows.py" "$build/gpupool" "$build/tests/conform/generate" \
	"$@" || echo "FAIL windows: windows.py ended with $?"
