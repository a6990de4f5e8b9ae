#!/bin/sh
# SPDX-License-Identifier: MIT
# Estimates for windows, of recorded programs that are cut into windows: how far
# they are from what the whole programs reserve.  See README.md.
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${BUILD:-$root/build}

if ! command -v python3 > /dev/null; then
	echo "skip windows: there is no python3"
	exit
fi
# Arguments are passed to measure.py.
python3 "$here/measure.py" "$build/gpupool" "$@" ||
	echo "FAIL windows: measure.py ended with $?"
