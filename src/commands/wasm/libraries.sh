#!/bin/sh
# SPDX-License-Identifier: MIT
# Compiles jansson, zlib and zstd to one archive, and puts their headers beside
# it:
#
#	src/commands/wasm/libraries.sh SOURCES FOLDER "COMPILER FLAGS"
set -eu

sources=$1
out=$2
compile=$3

mkdir -p "$out"
rm -f "$out"/*.o "$out/libs.a"
# What jansson's configure writes; atomics are plain where there is one thread.
sed 's/@json_inline@/inline/; s/@json_have_long_long@/1/; s/@json_have.*@/0/' \
	"$sources/jansson/src/jansson_config.h.in" > "$out/jansson_config.h"
: > "$out/jansson_private_config.h"
cp "$sources/jansson/src/jansson.h" "$sources"/zlib/z*.h \
	"$sources"/zstd/lib/zstd*.h "$out"

for file in "$sources"/jansson/src/*.c \
	"$sources"/zlib/adler32.c "$sources"/zlib/crc32.c \
	"$sources"/zlib/deflate.c "$sources"/zlib/inf*.c \
	"$sources"/zlib/trees.c "$sources"/zlib/zutil.c \
	"$sources"/zstd/lib/common/*.c "$sources"/zstd/lib/compress/*.c \
	"$sources"/zstd/lib/decompress/*.c; do
	case $file in
	*/infback.c | */zstdmt_compress.c | */pool.c | */threading.c) continue ;;
	esac
	object=$out/$(basename "$(dirname "$file")")-$(basename "$file" .c).o
	# The compiler comes with its flags.
	# shellcheck disable=SC2086
	$compile -c -o "$object" "$file"
done
"$(${compile%% *} -print-prog-name=llvm-ar)" rcs "$out/libs.a" "$out"/*.o
rm -f "$out"/*.o
