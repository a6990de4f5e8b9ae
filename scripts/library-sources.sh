#!/bin/sh
# SPDX-License-Identifier: MIT
# Fetches the sources of the libraries that gpupool is linked with, for builds
# for other systems (make wasm, make wheel), and unpacks them:
#
#	scripts/library-sources.sh FOLDER
#
# They are Debian's source packages, by apt, in the version that this release of
# Debian has; each must be one whose checksum stands below.  FOLDER then holds
# jansson, zlib and zstd.
set -eu

sums='
c739578bf6b764aa0752db9a2fdadcfe921c78f1228c7ec0bb47fa804c55d17b  jansson_2.14.orig.tar.gz
71feb7947e3c00ef125f83b79a4e529bde31171e5babe48b391f06758d1ab0a1  zlib_1.2.13.dfsg.orig.tar.bz2
8cf4bbb65e77ec348d052c8d6230eba66d435bddf64c8b5be2fcb16880c19953  libzstd_1.5.4+dfsg2.orig.tar.xz
'

folder=$1
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
[ ! -e "$folder/done" ] || exit 0

fail() {
	echo "library-sources.sh: $1" >&2
	exit 1
}

command -v apt-get > /dev/null 2>&1 ||
	fail "there is no apt-get to fetch the sources of jansson, zlib and zstd"

# apt's own lists of sources, in a folder of ours: the machine's lists stay as
# they are.
lists=$folder/apt
mkdir -p "$lists/lists/partial" "$lists/parts" "$folder/packed"
for file in /etc/apt/sources.list.d/*.sources; do
	[ ! -f "$file" ] || sed 's/^Types: deb$/Types: deb-src/' "$file" \
		> "$lists/parts/$(basename "$file")"
done
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
	[ ! -f "$file" ] || sed -n 's/^deb /deb-src /p' "$file" \
		> "$lists/parts/$(basename "$file" .list).list"
done

apt() {
	tool=$1
	shift
	"$tool" -qq -o Dir::Etc::sourcelist=/dev/null \
		-o "Dir::Etc::sourceparts=$lists/parts" \
		-o "Dir::State::lists=$lists/lists" \
		-o APT::Sandbox::User=root -o Acquire::Retries=3 "$@"
}

# The first listed version that can be fetched: a mirror may list that of a
# security update without having its files. The upstream archive is the same in
# all versions.
fetch() {
	for version in $(apt apt-cache madison "$1" |
		awk -F ' *[|] *' '$3 ~ / Sources$/ { print $2 }'); do
		! apt apt-get source --download-only --tar-only "$1=$version" ||
			return 0
	done
	echo "no listed version of $1 can be fetched"
	return 1
}
fetch_all() {
	apt apt-get update && cd "$folder/packed" &&
		fetch jansson && fetch zlib && fetch libzstd
}
fetch_all > "$folder/log" 2>&1 || fetch_all > "$folder/log" 2>&1 ||
	fail "apt cannot fetch jansson, zlib and libzstd: $(tail -n 1 "$folder/log")"

unpack() {
	for packed in "$folder/packed/$2"_*.orig.tar.?z*; do
		case $packed in
		*.asc) ;;
		*) break ;;
		esac
	done
	sum=$(sha256sum "$packed" | cut -d ' ' -f 1)
	case $sums in
	*"$sum  $(basename "$packed")"*) ;;
	*)
		fail "the checksum of $(basename "$packed") is not one that is \
known: $sum"
		;;
	esac
	rm -rf "${folder:?}/$1"
	mkdir "$folder/$1"
	tar -xf "$packed" -C "$folder/$1" --strip-components=1
}
unpack jansson jansson
unpack zlib zlib
unpack zstd libzstd
rm -rf "$lists" "$folder/packed"
touch "$folder/done"
