#!/bin/sh
# SPDX-License-Identifier: MIT
# docs/engines.md and docs/releases.md are what make table writes.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}

# same PAGE SCRIPT [ARGUMENT...]: the page equals the script's output
same() {
	page=$1
	shift
	if "$@" | diff "$root/docs/$page.md" - > /dev/null; then
		echo "ok $page-table"
	else
		echo "FAIL $page-table: make table writes another docs/$page.md"
	fi
}

same engines "$root/scripts/table.sh" "$build/gpupool"
same releases "$root/scripts/releases.sh" "$build/gpupool" \
	"$build/tests/tools/one_change"
