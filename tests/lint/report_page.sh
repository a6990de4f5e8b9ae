#!/bin/sh
# SPDX-License-Identifier: MIT
# man/gpupool-report.5 agrees with the table of keys.
set -u

cd "$(dirname "$0")/../.." || exit 1
. tests/lint/common.inc
program=${BUILD:-build}/gpupool

"$program" help report.5 | diff man/gpupool-report.5 - > "$work/said" 2>&1
verdict report-page "gpupool help report.5 > man/gpupool-report.5"
exit "$failed"
