#!/bin/sh
# SPDX-License-Identifier: MIT
# The library from the outside: it exports the names of its headers only, has no
# writable variables, the programs in examples/ print the same results for the
# same traces as the command line, and they build with the installed files.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
program=$(realpath "$build/gpupool")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
cd "$root" || exit 1
failed=0

verdict() {
	if [ -s "$work/wrong" ]; then
		echo "FAIL library: $1"
		sed 's/^/	/' "$work/wrong" | head -n 20
		failed=1
	else
		echo "ok library: $1"
	fi
}

# differ NAME: prints how the actual output differs from the expected one.
differ() {
	diff "$work/want" "$work/said" > "$work/wrong" 2>&1
	verdict "$1"
}

# ---- names ----

# Sanitizers add their own variables, __odr_asan*. Functions are found by the
# compiler's list, variables by the word extern.
declared() {
	for header in include/gpupool/*.h; do
		echo "#include \"gpupool/${header##*/}\""
	done > "$work/all.c"
	gcc -std=c11 -Iinclude -fsyntax-only -aux-info "$work/aux" "$work/all.c"
	{
		sed -n 's|^/\* include/gpupool/.*\*/ extern \(.*\);.*|\1|p' \
			"$work/aux" | sed 's/ (.*//; s/.*[ *]//'
		grep -h '^extern [^"]' include/gpupool/*.h |
			sed 's/[[;].*//; s/.*[ *]//'
	} | sort -u
}

check_names() {
	declared > "$work/want"
	nm -D --defined-only "$build/libgpupool.so.0" |
		awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
		sort > "$work/said"
	differ "libgpupool.so shows what the headers declare"
	nm -g --defined-only "$build/libgpupool.a" |
		awk 'NF == 3 && $3 !~ /^__odr_asan/ { print $3 }' |
		sort > "$work/said"
	differ "libgpupool.a shows what the headers declare"
}

# Variables that threads share are const, except those set by gp_memory_handle
# and, before anything else, by the program (gp_mem_use_huge_pages); a lock
# around getopt; those of the program's signal handlers and child processes; and
# those in the process of a host allocator.
check_const() {
	objdump -t "$build/libgpupool.a" |
		awk 'NF >= 4 && $(NF - 2) ~ /^\.(data|bss)(\.|$)/ &&
			$(NF - 2) !~ /^\.data\.rel\.ro/ && $(NF - 1) !~ /^0+$/ &&
			$NF !~ /^(handler(_arg)?$|uses_huge_pages$|__odr_asan)/ &&
			$NF !~ /^(getopt_lock|unfinished|came|running|none.0)$/ &&
			$NF !~ /^host_process$/ {
				print $NF
			}
		' > "$work/wrong"
	verdict "nothing in it is written"
}

# ---- the output of the examples ----

# The first value of a key in a report.
value() {
	sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" \
		"$work/report" | head -n 1
}

# check_need TRACE CONF GIB
check_need() {
	"$build/examples/need" "$@" > "$work/said" 2>&1
	"$build/gpupool" replay -q "$1" --alloc-conf "$2" --capacity unlimited \
		--format json > "$work/report"
	reserved=$(value peak_reserved_bytes)
	"$build/gpupool" suggest -q "$1" --capacity "$3GiB" --format json \
		> "$work/report"
	use=$(value alloc_conf)
	[ "$use" = null ] && use="(as it is)"
	printf 'peak_reserved_bytes %s\nverdict %s\nuse %s\n' "$reserved" \
		"$(value kind)" "$use" > "$work/want"
	differ "need $*"
}

# check_walk TRACE CONF: the actions equal those of --events; at the peak,
# segments add up to the reserved bytes, and blocks to their segments.
check_walk() {
	"$build/examples/walk" "$@" > "$work/walk" 2>&1
	grep '^[0-9]' "$work/walk" > "$work/said"
	"$build/gpupool" replay -q "$1" --alloc-conf "$2" --events - \
		-o "$work/report" --format json |
		sed 's/^{"action":"\([a-z_]*\)","addr":\([0-9]*\),/\1 \2 /
			s/ "size":\([0-9]*\),.*"event":\([0-9]*\)}$/ \1 \2/' |
		awk '{ print $4, $1, $2, $3 }' > "$work/want"
	differ "walk $*"
	awk -v want="$(value peak_reserved_bytes)" '
		$1 == "segment" { segments += $2 }
		/^  / { blocks += $NF }
		END {
			if (segments != want || blocks != want)
				print segments, blocks, want
		}' "$work/walk" > "$work/wrong"
	verdict "walk $*: the peak"
}

# check_measures TRACE CONF: numbers of a key that occurs once in the report are
# equal to the report's.
check_measures() {
	[ -x "$build/examples/measures" ] || {
		echo "skip library: measures: there is no C++ compiler"
		return
	}
	"$build/examples/measures" "$2" < "$1" > "$work/measures" 2>&1
	"$build/gpupool" replay -q "$1" --alloc-conf "$2" --format json \
		> "$work/report"
	while read -r key number unit; do
		[ "$(grep -c "^ *\"$key\":" "$work/report")" = 1 ] || continue
		there=$(value "$key")
		case $unit.$key.$there in
		*.*.*.* | ratio.* | *.) continue ;;
		esac
		echo "$key $number" >&3
		echo "$key $there"
	done < "$work/measures" 3> "$work/said" > "$work/want"
	[ "$(grep -c . "$work/said")" -ge 5 ] || echo "too few" >> "$work/want"
	differ "measures $*"
}

# check_engine TRACE: with one stream, and blocks that are requested; at least
# as much is reserved, and for each size there are as many as were live at once.
check_engine() {
	"$build/examples/engine" "$1" | sed -n 's/^powers //p' > "$work/said"
	grep -oE '"(op|id|size)": *[^,}]*' "$1" | awk -F'[": ]+' '
		$2 == "op" { op = $3; id = "" }
		$2 == "id" { id = $3 }
		$2 == "id" && op == "free" { live[bits[id]]-- }
		$2 == "size" && op == "alloc" {
			for (n = 9; 2 ^ n < $3; n++);
			bits[id] = n
			if (++live[n] > most[n])
				most[n] = live[n]
		}
		END {
			for (n in most)
				sum += 2 ^ n * most[n]
			printf "%.0f\n", sum
		}' > "$work/want"
	differ "engine $*"
}

# check_ask TRACE QUESTION...: the trace is held under a name that is not a
# file; on the command line the name is that of a file. Pages and PyTorch's own
# allocator are included because neither program has gpupool.wasm or a prepared
# engine in its folder.
check_ask() {
	trace=$1
	shift
	mkdir -p "$work/there" "$work/alone"
	cp "$program" "$work/alone/gpupool"
	cp "$trace" "$work/there/it"
	for question in "$@"; do
		echo "$question" |
			"$build/examples/ask" "$trace" it > "$work/said" 2>&1
		echo "exit $?" >> "$work/said"
		# shellcheck disable=SC2086
		(cd "$work/there" && case $question in
		*html* | verify*) "$work/alone/gpupool" $question ;;
		*) "$program" $question ;;
		esac) > "$work/want" 2>&1 < /dev/null
		echo "exit $?" >> "$work/want"
		differ "ask $question"
	done
}

fsdp=traces/recorded/fsdp-rank0-of-64.default.pickle.gz
one_two=traces/stories/one-two-one-then-three.jsonl
check_names
check_const
check_need $fsdp max_split_size_mb:128 80
check_need $fsdp expandable_segments:True 4
check_need traces/recorded/opt-finetune-2.9.jsonl.gz "" 2
check_need $one_two max_split_size_mb:32 5
check_walk $one_two max_split_size_mb:32
check_walk $fsdp expandable_segments:True
check_measures $one_two ""
check_measures $fsdp max_split_size_mb:128
check_engine $one_two
check_engine traces/stories/every-other-of-100.jsonl
check_ask $fsdp "it" "replay it" "replay it --format json --max-split-mb 64" \
	"replay it --format html --compare --alloc-conf \
	expandable_segments:True" "suggest it --format json --capacity 80GiB" \
	"sweep it --set max_split_size_mb=none,64 --format csv" \
	"explain it --format md" "info it --format json" "headroom it" \
	"floor it" "verify it" "convert it - --format jsonl" \
	"slice it - --to-event 9" "diff it it" "replay none" "replay it --no" \
	"replay it --max-split-mb 1" "help" "version" "rplay it" \
	"fit --trace it --gpu a100-40gb" "gen transformer --seed 3" ""

# ---- installed ----

# builds FLAGS...: builds the examples with only the installed files.
builds() {
	for source in examples/*.c examples/*.cc; do
		case $source in
		*.cc) compiler=${CXX:-g++} ;;
		*) compiler=${CC:-cc} ;;
		esac
		name=${source##*/}
		name=${name%.*}
		command -v "$compiler" > /dev/null || continue
		rm -f "$work/$name"
		"$compiler" -o "$work/$name" "$source" "$@" ||
			echo "$name does not build"
		trace=$one_two
		[ "$name" = measures ] && trace=
		input=$one_two
		[ "$name" = ask ] && input=$work/question
		# shellcheck disable=SC2086
		LD_LIBRARY_PATH=$lib "$work/$name" $trace \
			< "$input" > "$work/said" || echo "$name does not run"
		# shellcheck disable=SC2086
		"$build/examples/$name" $trace < "$input" |
			diff - "$work/said"
	done > "$work/wrong" 2>&1
}

check_installed() {
	echo "replay it" > "$work/question"
	lib=$work/usr/lib
	export PKG_CONFIG_PATH="$lib/pkgconfig"
	env -u MAKEFLAGS make install PREFIX="$work/usr" \
		> "$work/wrong" 2>&1 && : > "$work/wrong"
	verdict "it installs"
	# Flags are a list.
	# shellcheck disable=SC2046
	builds $(pkg-config --cflags --libs gpupool)
	readelf -d "$work/need" | grep -q 'NEEDED.*libgpupool.so.0' ||
		echo "need does not use libgpupool.so.0" >> "$work/wrong"
	verdict "programs build with libgpupool.so"
	rm -f "$lib"/libgpupool.so*
	# shellcheck disable=SC2046
	builds $(pkg-config --static --cflags --libs gpupool)
	verdict "programs build with libgpupool.a"
}

if [ "$build" != "$root/build" ]; then
	echo "skip library: installed: only the default build is installed"
elif ! command -v pkg-config > /dev/null; then
	echo "skip library: installed: there is no pkg-config"
else
	check_installed
fi

exit "$failed"
