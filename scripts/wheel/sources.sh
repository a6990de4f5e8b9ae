#!/bin/sh
# SPDX-License-Identifier: MIT
# Fetches the sources of the libraries that a wheel holds and unpacks them:
#
#	scripts/wheel/sources.sh FOLDER
#
# They are Debian's copies of what the authors released, fetched by apt-get
# from wherever this machine gets its packages.  On a machine without apt-get,
# put files of these names into FOLDER/packed.  Whatever the way, a file is
# taken only when it has the SHA-256 below.
set -eu

to=$1
packed=$to/packed

# The package, its file and the SHA-256 of that.
sources='
jansson jansson_2.14.orig.tar.gz c739578bf6b764aa0752db9a2fdadcfe921c78f1228c7ec0bb47fa804c55d17b
zlib zlib_1.2.13.dfsg.orig.tar.bz2 71feb7947e3c00ef125f83b79a4e529bde31171e5babe48b391f06758d1ab0a1
libzstd libzstd_1.5.4+dfsg2.orig.tar.xz 8cf4bbb65e77ec348d052c8d6230eba66d435bddf64c8b5be2fcb16880c19953
'

is_right() {
	[ -f "$packed/$2" ] &&
		echo "$3  $packed/$2" | sha256sum --check --status
}

# In a configuration of its own: sources are asked for nowhere else, and no
# list of this machine's changes.  The SHA-256 is the proof, so that no key is
# needed.
ask_apt() {
	apt=$to/apt
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
	apt-get indextargets --format \
		'deb-src [trusted=yes] $(SITE) $(RELEASE) $(COMPONENT)' \
		'Created-By: Packages' | grep -i debian | sort -u \
		> "$apt/sources.list"
	set -- -qq -o APT::Sandbox::User=root \
		-o "Dir::Etc::SourceList=$apt/sources.list" \
		-o Dir::Etc::SourceParts=/dev/null \
		-o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt/cache" \
		"$@"
	apt-get "$@" update && (cd "$packed" &&
		apt-get "$@" source --download-only jansson zlib libzstd)
}

check() {
	echo "$sources" | while read -r package file sum; do
		[ -z "$package" ] || is_right "$package" "$file" "$sum" ||
			echo "$file"
	done
}

mkdir -p "$packed"
to=$(cd "$to" && pwd)
packed=$to/packed
if [ -n "$(check)" ] && command -v apt-get > /dev/null; then
	ask_apt > "$to/apt.log" 2>&1 || tail -n 3 "$to/apt.log" >&2
	rm -rf "$to/apt"
fi
missing=$(check)
if [ -n "$missing" ]; then
	echo "sources.sh: put these files of Debian 12's sources into" \
		"$packed:" $missing >&2
	exit 1
fi
echo "$sources" | while read -r package file _; do
	[ -n "$package" ] || continue
	rm -rf "${to:?}/$package"
	mkdir "$to/$package"
	tar -xf "$packed/$file" -C "$to/$package" --strip-components 1
done
