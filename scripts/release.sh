#!/bin/sh
# SPDX-License-Identifier: MIT
# All that a release is made of, with checksums:
#
#	scripts/release.sh FOLDER [source|docs|deb|page|wheel]...
#
# source is the last commit, whatever else is in the tree, and the others are
# made of it in a folder that goes away.  The same commit gives the same bytes
# with the same compilers and tools, wherever and whenever it is made.  What the
# machine has no tools for is left out, and named, unless it was asked for.
# PLATFORMS are the wheels' (make wheel), every one unless it is set.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -ge 1 ] || {
	echo "release.sh: which folder?" >&2
	exit 2
}
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
asked=$*
umask 022

commit=$(git -C "$root" rev-parse --verify HEAD)
SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct "$commit")
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
version=$(git -C "$root" show "$commit:include/gpupool/gpupool.h" |
	sed -n 's/.*GP_VERSION "\(.*\)"/\1/p')
name=gpupool-$version
jobs=$(nproc 2> /dev/null || echo 2)
# One line: make takes it as one of a recipe.
platforms=${PLATFORMS:-}
for platform in manylinux_x86_64 manylinux_aarch64 musllinux_x86_64 \
	musllinux_aarch64; do
	[ -n "${PLATFORMS:-}" ] || platforms="$platforms $platform"
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# A part is left out, or an error if it was asked for.
lacks() {
	if [ -n "$asked" ]; then
		echo "release.sh: $1: $2" >&2
		exit 1
	fi
	echo "left out: $1: $2"
}

unpack() {
	rm -rf "${work:?}/$name"
	tar -xzf "$out/$name.tar.gz" -C "$work"
}

# Quiet unless it fails.
run() {
	"$@" > "$work/log" 2>&1 || {
		tail -n 40 "$work/log" >&2
		exit 1
	}
}

make_source() {
	git -C "$root" archive --format=tar --prefix="$name/" "$commit" |
		gzip -n -9 > "$work/source"
	mv "$work/source" "$out/$name.tar.gz"
}

# Sorted, because the order of find depends on the machine.
pack() {
	tar --sort=name --format=ustar --owner=0 --group=0 --numeric-owner \
		--mtime="@$SOURCE_DATE_EPOCH" -C "$1" -cf - "$2" | gzip -n -9
}

make_docs() {
	command -v mandoc > /dev/null || {
		lacks docs "mandoc is not on this machine"
		return
	}
	run make -C "$work/$name" -j"$jobs" docs
	mv "$work/$name/build/docs" "$work/$name-docs"
	pack "$work" "$name-docs" > "$out/$name-docs.tar.gz"
}

make_deb() {
	for tool in dpkg-buildpackage dh; do
		command -v "$tool" > /dev/null || {
			lacks deb "$tool is not on this machine"
			return
		}
	done
	# Tests are left to make check; in a separate tree, without the files
	# that docs left.
	unpack
	(
		cd "$work/$name"
		export DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$jobs"
		run dpkg-buildpackage -us -uc -b
	)
	mv "$work"/*.deb "$out"
}

# Needed by both the page and the wheels: true if it exists.
make_wasm() {
	[ ! -f "$work/$name/build/gpupool.wasm" ] || return 0
	if ! "$root/scripts/packages.sh" wasm > "$work/log" 2>&1; then
		lacks "$1" "$(sed -n 's/^Packages are missing/missing/p' \
			"$work/log")"
		return 1
	fi
	unpack
	run make -C "$work/$name" -j"$jobs" wasm
}

make_page() {
	make_wasm page || return 0
	cp -R "$work/$name/build/page" "$work/$name-page"
	cp "$work/$name/build/gpupool.html" "$work/$name-page"
	pack "$work" "$name-page" > "$out/$name-page.tar.gz"
}

# They contain the program for browsers, for gpupool page.
make_wheel() {
	command -v python3 > /dev/null || {
		lacks wheel "python3 is not on this machine"
		return
	}
	make_wasm wheel || return 0
	run make -C "$work/$name" -j"$jobs" wheel PLATFORMS="$platforms"
	mv "$work/$name"/build/wheel/*.whl "$out"
}

for part in $asked; do
	case $part in
	source | docs | deb | page | wheel) ;;
	*)
		echo "release.sh: there is no part $part" >&2
		exit 2
		;;
	esac
done

rm -f "$out"/gpupool[-_]* "$out"/libgpupool* "$out/SHA256SUMS"
make_source
unpack
for part in ${asked:-docs deb page wheel}; do
	[ "$part" = source ] || "make_$part"
done
(cd "$out" && sha256sum -- *gpupool* > SHA256SUMS)
cat "$out/SHA256SUMS"
