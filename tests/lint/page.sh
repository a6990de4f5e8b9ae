#!/bin/sh
# SPDX-License-Identifier: MIT
# The page's modules: the types in their comments are correct.
set -u

cd "$(dirname "$0")/../.." || exit 1
. tests/lint/common.inc

if ! has_command tsc; then
	echo "skip page-types: tsc is not on this machine (node-typescript)"
	exit 0
fi
# types LIBRARY MODULE: the module and all that it imports.
types() {
	tsc --noEmit --allowJs --checkJs --strict --noImplicitAny false \
		--target es2022 --module es2022 --lib "es2022,$1" "$2"
}
{
	types dom,dom.iterable src/report/page/app.js
	types webworker src/report/page/worker.js
} > "$work/said"
verdict page-types "what the page says of types does not hold"
exit "$failed"
