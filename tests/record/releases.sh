#!/bin/sh
# SPDX-License-Identifier: MIT
# Records a program under releases of PyTorch other than that of the tests:
#
#	PATH=$PWD/build:$PATH tests/record/releases.sh [RELEASE...]
#
# Each wheel is fetched, and removed again.  The replay must agree with the
# recording, and what follows from the host's values must be known.  Calls of
# CUDA's libraries must run, and so must checks that a correct program passes.
set -u

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
passed=0 failed=0 skipped=0
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
[ $# -gt 0 ] || set -- 2.1.2 2.2.2 2.3.1 2.4.1 2.5.1 2.6.0 2.7.1 2.8.0 2.9.1 \
	2.10.0 2.11.0 2.12.1 2.13.0 2.14.1 2.15.0

is_right() {
	gpupool record -o "$work/trace.jsonl" -- "$work/venv/bin/python" \
		"$here/programs/follows.py" > "$work/log" 2>&1 &&
		grep -q 'path: all values known$' "$work/log" &&
		gpupool replay -q "$work/trace.jsonl" --strict >> "$work/log" 2>&1 ||
		return 1
	for program in calls.py asserts.py; do
		gpupool record -o "$work/trace.jsonl" -- \
			"$work/venv/bin/python" "$here/programs/$program" \
			> "$work/log" 2>&1 || return 1
	done
}

for release; do
	if ! "$here/fetch.sh" "$release" "$work/venv" > "$work/log" 2>&1; then
		echo "skip record-$release: its wheel cannot be fetched"
		skipped=$((skipped + 1))
	elif is_right "$release"; then
		passed=$((passed + 1))
	else
		echo "FAIL record-$release"
		sed 's/^/    /' "$work/log"
		failed=$((failed + 1))
	fi
	rm -rf "$work/venv"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
