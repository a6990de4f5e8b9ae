#!/bin/sh
# SPDX-License-Identifier: MIT
# A sweep over all values of a setting has the same numbers as one that tries
# the values one by one: each value has those of its class.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
cd "$work" || exit 1
failed=0

gen() {
	"$build/gpupool" gen -q -o "$@" 2> /dev/null
}

gen ragged.jsonl ragged steps=6 layers=4
gen tenants.jsonl tenants turns=6 tenants=2
gen spikes.jsonl spikes steps=12 pieces=8 every=3

# compare NAME VALUES: all.csv has one row for each value in each.csv, and has
# at least MANY rows.
compare() {
	LC_ALL=C awk -F, -v name="$1" -v many="$2" '
		function numbers(  i, text) {
			for (i = 7; i <= 17; i++)
				text = text " " $i
			return text
		}
		{ gsub(/"/, "") }
		FNR == 1 { next }
		FNR == NR {
			split($25, words, " ")
			count = split(words[2], ends, /\.\./)
			least[NR] = ends[1]
			most[NR] = count > 1 ? ends[2] : ends[1]
			class[NR] = numbers()
			seen[class[NR]] = 1
			next
		}
		$1 == "" { next }
		{
			value = $3
			if (!sub(name ":", "", value)) value = name ~ /large/ ? 20 : "none"
			found = 0
			for (i in least) {
				inside = least[i] == "any" || most[i] == "none" && \
					(value == "none" || value + 0 >= least[i] + 0)
				if (value != "none" && most[i] != "none")
					inside = inside || value + 0 >= least[i] + 0 && \
						value + 0 <= most[i] + 0
				if (!inside) continue
				found = 1
				if (class[i] != numbers())
					print value ": is" numbers() ", not" class[i]
			}
			if (!found) print value ": is in no class"
			values++
		}
		END {
			for (i in seen) classes++
			if (classes < many) print classes " kinds of rows"
			if (values < 10) print values " values"
		}
	' all.csv each.csv
}

# Thresholds need programs with a memory fraction, which is not an axis here.
sweep() {
	"$build/gpupool" sweep "$trace" -q --format csv "$@" \
		--alloc-conf "$fraction" < /dev/null > whole.csv &&
		sed 's/per_process_memory_fraction:0.9,*//' whole.csv
}

# check TRACE NAME VALUES MANY OPTION...
check() {
	trace=$1 name=$2 values=$3 many=$4
	shift 4
	sweep "$@" --set "$name=all" > all.csv &&
		sweep "$@" --set "$name=none,$values" > each.csv &&
		compare "$name" "$many" > differs
	if [ $? -eq 0 ] && [ ! -s differs ]; then
		echo "ok sweep_all: $trace $name $*"
		return
	fi
	failed=1
	echo "FAIL sweep_all: $trace $name $*"
	sed 's/^/	/' differs | head -n 5
}

split=max_split_size_mb
large=large_segment_size_mb
gc=garbage_collection_threshold

fraction=
check ragged.jsonl $split 20..200+1 3
check ragged.jsonl $split 20..200+1 3 --capacity 500MiB
check tenants.jsonl $split 20..100+1 5
check tenants.jsonl $split 20..100+1 5 --capacity 800MiB --jobs 3
check tenants.jsonl $split 21..100+1 5 --capacity 800MiB --torch 2.9
check ragged.jsonl $large 11..60+1 5
mkdir ranks
cp ragged.jsonl tenants.jsonl ranks
check ranks $split 20..200+1 5 --capacity 900MiB --jobs 2
fraction=per_process_memory_fraction:0.9
check ragged.jsonl $gc 0.01..0.99+0.01 5 --capacity 700MiB
check spikes.jsonl $gc 0.01..0.99+0.01 3 --capacity 11GiB

[ "$failed" -eq 0 ]
