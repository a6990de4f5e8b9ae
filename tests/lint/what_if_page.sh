#!/bin/sh
# SPDX-License-Identifier: MIT
# man/gpupool-what-if.7 agrees with the table of what-ifs.
set -u

cd "$(dirname "$0")/../.." || exit 1
. tests/lint/common.inc
program=${BUILD:-build}/gpupool

"$program" help what-if.7 | diff man/gpupool-what-if.7 - > "$work/said" 2>&1
verdict what-if-page "gpupool help what-if.7 > man/gpupool-what-if.7"
exit "$failed"
