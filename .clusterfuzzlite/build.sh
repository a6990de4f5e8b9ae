#!/bin/sh
# SPDX-License-Identifier: MIT
# Called in OSS-Fuzz's builder, which sets CC, CFLAGS, LIB_FUZZING_ENGINE and
# OUT: the targets and the files that they begin with.  Libraries are linked in,
# since the machine that runs them has none.
set -eu

make -j"$(nproc)" CC="$CC" CFLAGS="$CFLAGS" FUZZ_ENGINE="$LIB_FUZZING_ENGINE" \
	LIBS="-Wl,-Bstatic -ljansson -lz -lzstd -Wl,-Bdynamic -lm -ldl -pthread" \
	fuzz-targets

for target in build/*/tests/fuzz/fuzz_* build/tests/fuzz/fuzz_*; do
	case $target in
	*.d | *\**) continue ;;
	esac
	name=$(basename "$target")
	cp "$target" "$OUT/"
	seeds=$(mktemp -d)
	for folder in "tests/fuzz/$name" tests/fuzz/corpus traces/tiny \
		traces/bad traces/imports; do
		[ ! -d "$folder" ] ||
			find "$folder" -type f ! -name '*.expect' \
				-exec cp {} "$seeds" \;
	done
	zip -q -j -r "$OUT/${name}_seed_corpus.zip" "$seeds"
	rm -rf "$seeds"
done
