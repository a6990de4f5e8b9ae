#!/bin/sh
# SPDX-License-Identifier: MIT
# Golden tests of the command line: each tests/cli/*.test is a small text to be
# read from top to bottom,
#
#	# A flag that is not known is named.
#	$ gpupool replay --no-such-flag x
#	! gpupool: replay: there is no flag --no-such-flag
#	exit 2
#
# where "# " is a remark, "$ " a command for sh, "| " its standard output,
# "! " its standard error and "exit N" its status when that is not 0.
# "needs COMMAND" skips the file on machines without that command, and "needs
# python:MODULE" where python has no such module.
#
# The commands of a file run one after another in one empty folder, with the
# program as gpupool, the bundled traces in $traces and the CUDA runtime without
# a device as $cudart.
#
#	UPDATE=1 tests/cli/run.sh [FILE...]
#
# writes what came out into the files instead of comparing: read it with git
# diff before committing.
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# A short path, the same on every machine, for messages to name.
traces=../traces
export traces
ln -s "$root/traces" "$work/traces"
# A CUDA runtime that has no device behind it.
cudart=../cudart.so
export cudart
unset GPUPOOL_CUDART
ln -s "${BUILD:-$root/build}/simcuda/13/libgpupool-simcuda.so" \
	"$work/cudart.so"
mkdir "$work/bin"
ln -s "${BUILD:-$root/build}/gpupool" "$work/bin/gpupool"
PATH=$work/bin:$PATH
unset MAKEFLAGS MAKELEVEL

# The newest release of PyTorch when the answers were written.  With a newer one,
# what a trace that names none is taken for changes, and nothing else: answers
# are then taken as if they said the older one, with UPDATE=1 too.  Change the
# number here, then UPDATE=1, to have them all say the newer one.
written_with=15
newest=$(gpupool replay --torch none "$root/traces/tiny/small-alloc.json" 2>&1 |
	sed -n 's/.* to 2\.\([0-9]*\).*/\1/p')
as_written=
# It is sed's to read.
# shellcheck disable=SC2089
[ "$newest" = "$written_with" ] || as_written="
	s/2\\.$newest\\([^0-9]\\|\$\\)/2.$written_with\\1/g
	s/\"last\":$newest,/\"last\":$written_with,/g"
# shellcheck disable=SC2090
export as_written

# Copies what a person wrote and adds what the commands answer.
answer() {
	while IFS= read -r line || [ -n "$line" ]; do
		case $line in
		'| '* | '! '* | '|' | '!' | 'exit '*) continue ;;
		esac
		printf '%s\n' "$line"
		case $line in
		'$ '*)
			sh -c "${line#??}" > "$work/out" 2> "$work/err" \
				< /dev/null
			code=$?
			sed "s/^/| /; s/^| \$/|/; $as_written" "$work/out"
			sed "s/^/! /; s/^! \$/!/; $as_written" "$work/err"
			[ "$code" -eq 0 ] || echo "exit $code"
			;;
		esac
	done
}

missing_command() {
	for need in $(sed -n 's/^needs //p' "$1"); do
		case $need in
		python:*) python -c "import importlib.util as u, sys
sys.exit(not u.find_spec('${need#*:}'))" 2> /dev/null ;;
		*) command -v "$need" > /dev/null ;;
		esac || echo "$need"
	done
}

run() {
	name=$(basename "$1" .test)
	missing=$(missing_command "$1")
	if [ -n "$missing" ]; then
		echo "skip $name:" $missing "is not on this machine"
		return
	fi
	rm -rf "$work/here"
	mkdir "$work/here"
	(cd "$work/here" && answer) < "$1" > "$work/answer"
	if cmp -s "$1" "$work/answer"; then
		echo "ok $name"
	elif [ -n "${UPDATE-}" ]; then
		cp "$work/answer" "$1"
		echo "ok $name (updated)"
	else
		echo "FAIL $name: UPDATE=1 tests/cli/run.sh $name.test" \
			"accepts this"
		diff -u "$1" "$work/answer" | sed '1,2d'
		failed=1
	fi
}

# All of them, or those with a line that matches ONLY: some at once, as they do
# not meet.
if [ $# -eq 0 ]; then
	grep -lE -e "${ONLY:-^}" "$here"/*.test |
		xargs -r -n 1 -P "${JOBS:-$(nproc 2> /dev/null || echo 2)}" "$0"
	exit
fi
failed=0
cd "$here" || exit 1
for file; do
	if [ ! -e "$file" ]; then
		echo "FAIL $file: it is not in tests/cli"
		failed=1
		continue
	fi
	# Said at once, not line by line between others.
	run "$file" > "$work/said"
	cat "$work/said"
done
exit "$failed"
