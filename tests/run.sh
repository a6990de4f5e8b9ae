#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs tests and counts them.  Each argument is one of these:
#
#	a Check program: its line "NN%: Checks: 12, Failures: 0, Errors: 0"
#	has the counts; a line "skip NAME: WHY" counts one check as skipped;
#
#	a script (*.sh): each line "ok NAME", "FAIL NAME: WHY" or
#	"skip NAME: WHY" is one test;
#
#	a text (*.test) for the run.sh in its folder, which prints such lines.
#
# JOBS parts run at once, by default as many as the machine has processors.
# Only failed and skipped tests are shown.  The last line is "N passed, N failed,
# N skipped"; the exit status is 1 if a test failed.  BUILD is the folder of the
# build, by default "build".
set -u

root=$(cd "$(dirname "$0")/.." && pwd)
BUILD=$(cd "$root" && cd "${BUILD:-build}" && pwd) || exit 1
export BUILD

# So that results are the same on every machine.
unset PYTORCH_CUDA_ALLOC_CONF PYTORCH_ALLOC_CONF NO_COLOR CLICOLOR_FORCE
export LC_ALL=C TZ=UTC COLUMNS=80 TERM=dumb
# Slow builds (sanitizers, a busy machine) must not run into a limit.
export CK_DEFAULT_TIMEOUT="${CK_DEFAULT_TIMEOUT:-600}" CK_VERBOSITY=normal
# With sanitizers, malloc returns what it would return without them.
export ASAN_OPTIONS="allocator_may_return_null=1:${ASAN_OPTIONS-}"
export TSAN_OPTIONS="allocator_may_return_null=1:${TSAN_OPTIONS-}"
export UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS-}"

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
		# The program ended before it printed the line.
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

# Only one part prints at a time; the folder is the lock.  On a full disk nobody
# can create it, so after ten seconds a part prints without it.
speak() {
	tries=0
	until mkdir "$work/speaking" 2> /dev/null || [ $tries -ge 200 ]; do
		tries=$((tries + 1))
		sleep 0.05
	done
	if [ "$f" -gt 0 ]; then
		sed "/^ok /d; s/^/    /" "$log"
	elif [ "$s" -gt 0 ]; then
		grep '^skip ' "$log" | sed 's/^/    /'
	fi
	echo "$name: $p passed, $f failed, $s skipped"
	echo "$p $f $s" >> "$work/counts"
	rmdir "$work/speaking" 2> /dev/null
}

run() {
	name=${1#"$BUILD"/tests/}
	name=${name#"$root"/tests/}
	name=${name%.sh}
	log=$work/log.$$
	case $1 in
	*.test) (cd "$root" && "${1%/*}/run.sh" "${1##*/}") ;;
	*) (cd "$root" && "$1") ;;
	esac > "$log" 2>&1 < /dev/null
	code=$?
	case $1 in
	*.sh | *.test) count_script "$log" ;;
	*) count_check "$log" ;;
	esac
	if [ "$code" -ne 0 ] && [ "$f" -eq 0 ]; then
		echo "exit status $code" >> "$log"
		f=1
	fi
	speak
}

# xargs runs this script for each part: tests/run.sh --one WORK PART.
if [ "${1-}" = --one ]; then
	work=$2
	case $3 in
	/*) run "$3" ;;
	*) run "$root/$3" ;;
	esac
	exit
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
: > "$work/counts"
printf '%s\n' "$@" | xargs -n 1 -P "${JOBS:-$(nproc 2> /dev/null || echo 2)}" \
	"$0" --one "$work"
passed=0 failed=0 skipped=0
while read -r p f s; do
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done < "$work/counts"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ] &&
	[ "$(wc -l < "$work/counts")" -eq $# ]
