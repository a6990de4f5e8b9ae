#!/bin/sh
# SPDX-License-Identifier: MIT
# Compiles jansson, zlib and zstd as static libraries for another system:
#
#	CC='...' AR='...' scripts/wheel/libraries.sh SOURCES FOLDER
#
# SOURCES is the folder that library-sources.sh filled.  FOLDER then has
# include/ and lib/.  Of zstd there is what unpacks and what packs, without the
# writers of dictionaries and of formats that nobody has any more.
set -eu

sources=$(cd "$1" && pwd)
mkdir -p "$2/include" "$2/lib"
to=$(cd "$2" && pwd)
# Paths are left out of the compiled code, so that it is the same everywhere.
flags="-O2 -fPIC -fvisibility=hidden -DNDEBUG -w -g0 -ffile-prefix-map=$sources=.
	${LIBRARY_FLAGS-}"

# library NAME FLAGS... -- FILES...
library() {
	name=$1
	own=
	shift
	while [ "$1" != -- ]; do
		own="$own $1"
		shift
	done
	shift
	rm -rf "$to/obj" "$to/lib/lib$name.a"
	mkdir "$to/obj"
	cd "$to/obj"
	# Commands and flags are lists.
	# shellcheck disable=SC2086
	printf '%s\n' "$@" | xargs -n 4 -P "${JOBS:-2}" $CC $flags $own -c
	# shellcheck disable=SC2086
	$AR rcsD "$to/lib/lib$name.a" ./*.o
	cd "$to"
	rm -r "$to/obj"
}

jansson=$sources/jansson
# It has no configure here; these are its results on Linux.
sed -e 's/\(JSON_HAVE_LOCALECONV\) 0/\1 1/' \
	-e '$s/^/#define JSON_HAVE_ATOMIC_BUILTINS 1\n/' \
	"$jansson/android/jansson_config.h" > "$to/include/jansson_config.h"
cp "$jansson/src/jansson.h" "$to/include"
: > "$to/include/jansson_private_config.h"
library jansson "-I$to/include" -DHAVE_CONFIG_H -DHAVE_ATOMIC_BUILTINS \
	-DHAVE_OPEN -DHAVE_CLOSE -DHAVE_READ -DUSE_URANDOM \
	-DHAVE_ENDIAN_H -DHAVE_FCNTL_H -DHAVE_GETTIMEOFDAY -DHAVE_SCHED_H \
	-DHAVE_SCHED_YIELD -DHAVE_STDINT_H -DHAVE_SYS_PARAM_H \
	-DHAVE_SYS_STAT_H -DHAVE_SYS_TIME_H -DHAVE_SYS_TYPES_H \
	-DHAVE_UNISTD_H -- "$jansson"/src/*.c
rm "$to/include/jansson_private_config.h"

zlib=$sources/zlib
cp "$zlib/zlib.h" "$zlib/zconf.h" "$to/include"
library z -DHAVE_UNISTD_H=1 -D_LARGEFILE64_SOURCE=1 -- "$zlib"/*.c

zstd=$sources/zstd/lib
cp "$zstd/zstd.h" "$zstd/zstd_errors.h" "$to/include"
library zstd -DZSTD_DISABLE_ASM -DZSTD_LEGACY_SUPPORT=0 -- \
	"$zstd"/common/*.c "$zstd"/compress/*.c "$zstd"/decompress/*.c
