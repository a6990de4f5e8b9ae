#!/bin/sh
# SPDX-License-Identifier: MIT
# The tests for a GPU, on the CUDA runtime that has no device behind it: what
# the script does is then tested on every machine.
STAND_IN=1 REPEAT=5 exec "$(dirname "$0")/run.sh"
