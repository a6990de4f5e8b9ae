#!/bin/sh
# SPDX-License-Identifier: MIT
# Golden tests of the command line: each tests/cli/*.test is a small text, read
# from top to bottom:
#
#	# A flag that is not known is named.
#	$ gpupool replay --no-such-flag x
#	! gpupool: replay: there is no flag --no-such-flag
#	exit 2
#
# where "# " is a comment, "$ " a command for sh, "| " its standard output,
# "! " its standard error and "exit N" its status if that is not 0.
# "needs COMMAND" skips the file on machines without that command, and "needs
# python:MODULE" where python has no such module.
#
# The commands of a file run one after another in one empty folder, with the
# program as gpupool, the bundled traces in $traces and the CUDA runtime without
# a device as $cudart.
#
#	UPDATE=1 tests/cli/run.sh [FILE...]
#
# writes the actual output to the files instead of comparing; check it with git
# diff before committing.
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# A short path for messages, the same on every machine.
traces=../traces
export traces
ln -s "$root/traces" "$work/traces"
# A CUDA runtime without a device.
cudart=../cudart.so
export cudart
unset GPUPOOL_CUDART
ln -s "${BUILD:-$root/build}/simcuda/13/libgpupool-simcuda.so" \
	"$work/cudart.so"
mkdir "$work/bin"
ln -s "${BUILD:-$root/build}/gpupool" "$work/bin/gpupool"
PATH=$work/bin:$PATH
unset MAKEFLAGS MAKELEVEL

# The newest release of PyTorch at the time the expected outputs were written.
# With a newer one, traces that name no release are replayed as that; outputs
# are then compared, and with UPDATE=1 written, as if they named the older one.
# Change the number here, then run with UPDATE=1, to have all outputs name the
# newer one.
written_with=15
newest=$(gpupool replay --torch none "$root/traces/tiny/small-alloc.json" 2>&1 |
	sed -n 's/.* to 2\.\([0-9]*\).*/\1/p')
as_written=
# sed expands it.
# shellcheck disable=SC2089
[ "$newest" = "$written_with" ] || as_written="
	s/2\\.$newest\\([^0-9]\\|\$\\)/2.$written_with\\1/g
	s/\"last\":$newest,/\"last\":$written_with,/g"
# shellcheck disable=SC2090
export as_written

# Copies the lines written by a person, and adds the output of the commands.
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

# All tests, or those with a line that matches ONLY: several at once, because
# they are independent.
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
	# Printed at once, so that lines of other tests do not come between.
	run "$file" > "$work/said"
	cat "$work/said"
done
exit "$failed"
