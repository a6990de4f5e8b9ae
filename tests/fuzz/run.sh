#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs each libFuzzer target of the build from the bundled traces and the seeds
# beside this script, as many targets at once as there are processors, or JOBS.
#
# By default each runs RUNS inputs, which are the same in every run of a build:
# the random seed and the order of input files are fixed, the program is at
# the same addresses, by which libFuzzer distinguishes comparisons, and neither
# the clock nor an earlier run has an effect.
#
# With SECONDS_EACH it is a campaign of that length, from a new seed or SEED and
# from the findings of earlier ones, which stay in $BUILD/fuzz/TARGET/.  RUNS is
# then a limit only if it is given.
#
# crash-* in $BUILD/fuzz/TARGET/ is an input that failed.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}

# In containers that forbid this, the inputs may differ a little.
fixed_addresses="setarch $(uname -m) -R"
$fixed_addresses true 2> /dev/null || fixed_addresses=

# The seeds of a target in libFuzzer's form: in a fixed order, with commas.
list_seeds() {
	for folder in "$root/tests/fuzz/$1" "$root/tests/fuzz/corpus" \
		"$root/traces/tiny" "$root/traces/bad" "$root/traces/imports"; do
		[ ! -d "$folder" ] || find "$folder" -type f
	done | LC_ALL=C sort | paste -s -d , -
}

run() {
	target=$1
	name=$(basename "$target")
	found=$build/fuzz/$name
	mkdir -p "$found"
	list_seeds "$name" > "$found.seeds"
	set -- -seed_inputs="@$found.seeds" -rss_limit_mb=2048 -timeout=120 \
		-max_len=65536 -artifact_prefix="$found/" -verbosity=1 \
		-print_final_stats=1
	if [ -n "${SECONDS_EACH-}" ]; then
		set -- "$@" -max_total_time="$SECONDS_EACH" \
			-seed="${SEED:-0}" -runs="${RUNS:--1}" "$found"
	else
		set -- "$@" -seed=1 -runs="${RUNS:-20000}"
	fi
	if $fixed_addresses "$target" "$@" > "$found.log" 2>&1; then
		echo "ok $name"
	else
		echo "FAIL $name: see $found.log"
		grep -A 12 'ERROR\|runtime error\|^[a-z].* differs' \
			"$found.log" | head -n 30
	fi
}

# xargs runs this script for each target: run.sh TARGET.
if [ $# -eq 1 ]; then
	run "$1"
	exit
fi

for target in "$build"/tests/fuzz/fuzz_*; do
	case $target in
	*.d | *\**) ;;
	*) echo "$target" ;;
	esac
done | xargs -n 1 -P "${JOBS:-$(nproc 2> /dev/null || echo 2)}" "$0"
