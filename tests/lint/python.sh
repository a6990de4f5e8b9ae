#!/bin/sh
# SPDX-License-Identifier: MIT
# Python passes ruff; what is built into the program, and the package, is also
# formatted with it, and the package's type annotations are correct.
set -u

cd "$(dirname "$0")/../.." || exit 1
. tests/lint/common.inc

if has_command ruff; then
	ruff check --no-cache --quiet --output-format concise \
		--config tests/lint/ruff.toml src tests scripts python > "$work/said"
	verdict python "Python is not as ruff likes it"
	ruff format --no-cache --check --quiet \
		--config tests/lint/ruff.toml src python > "$work/said" 2>&1 ||
		echo "ruff format --config tests/lint/ruff.toml src python" \
			>> "$work/said"
	verdict python-format "this puts the Python in src and python right"
else
	echo "skip python: ruff is not on this machine (pip install ruff)"
fi
if has_command mypy; then
	(cd python && mypy --no-error-summary --cache-dir "$work/mypy") \
		> "$work/said" 2>&1
	verdict python-types "what the package says of types does not hold"
else
	echo "skip python-types: mypy is not on this machine (pip install mypy)"
fi
exit "$failed"
