#!/bin/sh
# SPDX-License-Identifier: MIT
# docs/engines.md is what make table writes.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}

if "$root/scripts/table.sh" "$build/gpupool" |
	diff "$root/docs/engines.md" - > /dev/null; then
	echo "ok engines-table"
else
	echo "FAIL engines-table: make table writes another docs/engines.md"
fi
