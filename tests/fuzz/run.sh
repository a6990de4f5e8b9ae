#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs each libFuzzer target of the build RUNS times, or for SECONDS_EACH
# seconds, from the bundled traces and the seeds beside this script.  What it
# finds stays in $BUILD/fuzz/TARGET/, and is run again first the next time;
# crash-* there is an input that failed.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
failed=0

for target in "$build"/tests/fuzz/fuzz_*; do
	case $target in
	*.d | *\**) continue ;;
	esac
	name=$(basename "$target")
	found=$build/fuzz/$name
	mkdir -p "$found"
	set -- "$found"
	for seeds in "$root/tests/fuzz/$name" "$root/tests/fuzz/corpus" \
		"$root/traces/tiny" \
		"$root/traces/bad" "$root/traces/imports"; do
		[ ! -d "$seeds" ] || set -- "$@" "$seeds"
	done
	# The seed is fixed: what fails here fails everywhere.
	if "$target" -runs="${RUNS:-20000}" -seed=1 -rss_limit_mb=2048 \
		-max_total_time="${SECONDS_EACH:-20}" -timeout=20 \
		-max_len=65536 -artifact_prefix="$found/" -verbosity=0 \
		"$@" > "$found.log" 2>&1; then
		echo "ok $name"
	else
		echo "FAIL $name: see $found.log"
		grep -A 12 'ERROR\|runtime error\|^[a-z].* differs' \
			"$found.log" | head -n 30
		failed=1
	fi
done
exit "$failed"
