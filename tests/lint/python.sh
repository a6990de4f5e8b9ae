#!/bin/sh
# SPDX-License-Identifier: MIT
# Python as ruff likes it; that which is built in is laid out by it, too.
set -u

cd "$(dirname "$0")/../.." || exit 1
. tests/lint/common.inc

if has_command ruff; then
	ruff check --no-cache --quiet --output-format concise \
		--config tests/lint/ruff.toml src tests scripts > "$work/said"
	verdict python "Python is not as ruff likes it"
	ruff format --no-cache --check --quiet \
		--config tests/lint/ruff.toml src > "$work/said" 2>&1 ||
		echo "ruff format --config tests/lint/ruff.toml src" \
			>> "$work/said"
	verdict python-format "this puts the Python in src right"
else
	echo "skip python: ruff is not on this machine (pip install ruff)"
fi
exit "$failed"
