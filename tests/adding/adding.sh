#!/bin/sh
# SPDX-License-Identifier: MIT
# Additions take few files: this adds a command, an engine, an input format, a
# measure, a release of PyTorch and a setting to a copy of the tree, as
# CONTRIBUTING.md describes, builds them, and counts the files of each.  The
# existing tests must pass unchanged, except for the counted files.
#
# The parts of each addition are in the file of its name, which is sourced.
# shellcheck disable=SC2317
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
MOST=5 # files of one thing
things="command engine format measure release setting"
failed=0

if [ "$build" != "$root/build" ]; then
	echo "skip adding: it builds on what the default build has"
	exit
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
tree=$work/tree
said=$work/said
unset MAKEFLAGS MAKELEVEL

verdict() {
	if [ -s "$said" ]; then
		echo "FAIL adding: $1"
		sed 's/^/	/' "$said" | tail -n 40
		failed=1
	else
		echo "ok adding: $1"
	fi
}

# The tree with its build, with all files of the same age.
copy_tree() {
	mkdir -p "$tree/build/tests"
	cd "$root" || exit 1
	for part in Makefile include src man scripts traces tests docs examples \
		prices README.md build/obj build/simcuda build/libgpupool.a \
		build/libgpupool.so.0 build/gpupool build/page_files.c \
		build/gpupool-report.schema.json build/.compile build/.link \
		build/.packages; do
		[ ! -e "$part" ] || cp -a --parents "$part" "$tree"
	done
	cd "$tree" || exit 1
}

# ---- what a thing is made of: files, named after $thing ----

touched() {
	echo "$1" >> "$work/files.$thing"
}

# insert FILE PATTERN: inserts standard input before the first matching line.
insert() {
	cat > "$work/lines"
	grep -q -e "$2" "$1" || echo "$1 has no line like $2" >> "$said"
	awk -v pattern="$2" -v lines="$work/lines" '
		!done && $0 ~ pattern {
			while ((getline line < lines) > 0)
				print line
			done = 1
		}
		{ print }' "$1" > "$work/new" && cat "$work/new" > "$1"
	touched "$1"
}

add() {
	cat > "$1"
	touched "$1"
}

# page NAME: a manual page that is generated from a table.
page() {
	build/gpupool help "$1" | cmp -s - "man/gpupool-$1" && return
	build/gpupool help "$1" > "man/gpupool-$1"
	touched "man/gpupool-$1"
}

# answers NAME: writes and checks a golden test.
answers() {
	touched "tests/cli/$1.test"
	UPDATE=1 tests/cli/run.sh "$1.test" > /dev/null
}

for thing in $things; do
	# shellcheck source=/dev/null
	. "$root/tests/adding/$thing.sh"
done

copy_tree
: > "$said"
for thing in $things; do
	"add_$thing"
done
verdict "rows have a place"

make -j2 build/gpupool build/tests/contract/test_engine > "$work/make" 2>&1 ||
	cp "$work/make" "$said"
grep warning: "$work/make" >> "$said"
verdict "it builds"
[ "$failed" = 0 ] || exit 1

BUILD=$tree/build
export BUILD
for thing in $things; do
	: > "$said"
	"say_$thing" > /dev/null
	"try_$thing" > "$said" 2>&1
	verdict "the $thing does what it should"
	sort -u "$work/files.$thing" > "$said"
	count=$(grep -c . "$said")
	[ "$count" -gt "$MOST" ] || : > "$said"
	verdict "the $thing takes $count files"
done

# Every list of what exists, which knows nothing of what was added.
build/tests/contract/test_engine > "$said" 2>&1 && : > "$said"
verdict "the engine keeps the contract of engines"
ONLY='gpupool (help|convert|info|replay|check)' tests/cli/run.sh |
	grep -v '^ok\|^skip' > "$said"
verdict "goldens stand as they are"
for check in metrics_page report_page settings_page manuals headers; do
	"tests/lint/$check.sh"
done 2>&1 | grep -v '^ok\|^skip' > "$said"
verdict "manuals and headers are right"
exit "$failed"
