#!/bin/sh
# SPDX-License-Identifier: MIT
# Speed, as ratios within one run: see bench.py.  BUILD/bench.json has the
# results; a ratio a fifth above baseline.json's fails.  KEEP=1 makes this the
# baseline.
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${BUILD:-build}
case $build in
/*) ;;
*) build=$root/$build ;;
esac
export PYTHONDONTWRITEBYTECODE=1

if ! command -v python3 > /dev/null; then
	echo "skip bench: there is no python3"
	exit
fi
if [ -n "${KEEP:-}" ]; then
	python3 "$here/bench.py" "$build/gpupool" "$here/baseline.json"
else
	python3 "$here/bench.py" "$build/gpupool" "$build/bench.json" \
		"$here/baseline.json"
fi
