#!/bin/sh
# SPDX-License-Identifier: MIT
# What runs in other people's programs compiles with musl, too: make wheel takes
# much longer to say so.
set -u

cd "$(dirname "$0")/../.." || exit 1
. tests/lint/common.inc

if has_command musl-gcc; then
	find src/simcuda -name '*.c' -exec musl-gcc -std=c11 -D_GNU_SOURCE \
		-Iinclude -Isrc -fsyntax-only \
		-Werror=implicit-function-declaration {} + > "$work/said" 2>&1
	verdict musl "it does not compile with musl"
else
	echo "skip musl: musl-gcc is not on this machine (apt-get install" \
		"musl-tools)"
fi

# Debian's musl still declares it, later versions do not.
grep -rn '\<basename(' src/simcuda --include='*.c' > "$work/said"
verdict basename "musl 1.2.5 does not declare it: use strrchr()"
exit "$failed"
