#!/bin/sh
# SPDX-License-Identifier: MIT
# man/gpupool-metrics.7 agrees with the table of measures.
set -u

cd "$(dirname "$0")/../.." || exit 1
. tests/lint/common.inc
program=${BUILD:-build}/gpupool

"$program" help metrics.7 | diff man/gpupool-metrics.7 - > "$work/said" 2>&1
verdict metrics-page "gpupool help metrics.7 > man/gpupool-metrics.7"
exit "$failed"
