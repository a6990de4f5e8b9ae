#!/bin/sh
# SPDX-License-Identifier: MIT
# man/gpupool-settings.7 agrees with the table of settings.
set -u

cd "$(dirname "$0")/../.." || exit 1
. tests/lint/common.inc
program=${BUILD:-build}/gpupool

"$program" help settings.7 | diff man/gpupool-settings.7 - > "$work/said" 2>&1
verdict settings-page "gpupool help settings.7 > man/gpupool-settings.7"
exit "$failed"
