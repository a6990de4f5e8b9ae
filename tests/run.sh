#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs tests and counts them.  Each argument is one of
#
#	a Check program: its line "NN%: Checks: 12, Failures: 0, Errors: 0"
#	is the count; a line "skip NAME: WHY" moves one check to the skipped;
#
#	a script (*.sh): each line "ok NAME", "FAIL NAME: WHY" or
#	"skip NAME: WHY" is one test.
#
# Only what failed or was skipped is shown.  The last line is
# "N passed, N failed, N skipped"; the exit status is 1 when one failed.
# BUILD is the folder of the build; "build" when not set.
set -u

root=$(cd "$(dirname "$0")/.." && pwd)
BUILD=$(cd "$root/${BUILD:-build}" && pwd) || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
export BUILD

# The same answers on every machine.
unset PYTORCH_CUDA_ALLOC_CONF PYTORCH_ALLOC_CONF NO_COLOR CLICOLOR_FORCE
export LC_ALL=C TZ=UTC COLUMNS=80 TERM=dumb
# Slow builds (sanitizers, other tests beside) must not run into a limit.
export CK_DEFAULT_TIMEOUT="${CK_DEFAULT_TIMEOUT:-600}" CK_VERBOSITY=normal
# Sanitizers: what malloc answers without them.
export ASAN_OPTIONS="allocator_may_return_null=1:${ASAN_OPTIONS-}"
export TSAN_OPTIONS="allocator_may_return_null=1:${TSAN_OPTIONS-}"
export UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS-}"

passed=0 failed=0 skipped=0

# The number that follows "$2: " in the last summary line of file $1.
count_of() {
	sed -n "s/^[0-9]*%: Checks: .*/&,/
		s/^[0-9]*%: .*$2: \([0-9]*\),.*/\1/p" "$1" | tail -n 1
}

lines_of() {
	grep -c "^$2 " "$1"
}

count_check() {
	checks=$(count_of "$1" Checks)
	if [ -z "$checks" ]; then
		# It did not live to tell.
		p=0 f=1 s=0
		return
	fi
	f=$(($(count_of "$1" Failures) + $(count_of "$1" Errors)))
	s=$(lines_of "$1" skip)
	p=$((checks - f - s))
}

count_script() {
	p=$(lines_of "$1" ok)
	f=$(lines_of "$1" FAIL)
	s=$(lines_of "$1" skip)
}

run() {
	name=${1#"$BUILD"/tests/}
	name=${name#"$root"/tests/}
	name=${name%.sh}
	log=$work/log
	(cd "$root" && "$1") > "$log" 2>&1 < /dev/null
	code=$?
	case $1 in
	*.sh) count_script "$log" ;;
	*) count_check "$log" ;;
	esac
	if [ "$code" -ne 0 ] && [ "$f" -eq 0 ]; then
		echo "exit status $code" >> "$log"
		f=1
	fi
	if [ "$f" -gt 0 ]; then
		sed "/^ok /d; s/^/    /" "$log"
	elif [ "$s" -gt 0 ]; then
		grep '^skip ' "$log" | sed 's/^/    /'
	fi
	echo "$name: $p passed, $f failed, $s skipped"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

for part; do
	case $part in
	/*) run "$part" ;;
	*) run "$root/$part" ;;
	esac
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
