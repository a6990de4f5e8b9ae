#!/bin/sh
# SPDX-License-Identifier: MIT
# A release that is built twice, in different folders, at different times, from
# different clones, has the same bytes.  PARTS are those of scripts/release.sh:
# make check builds only the source, make release-check everything.  Compiled
# files are compiled twice: no cache is used.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
part=release
. "$root/tests/script.inc"
parts=${PARTS-source}
export CCACHE_DISABLE=1

git -C "$root" rev-parse --verify HEAD > /dev/null 2>&1 ||
	skip_all "this is no checkout of git" made same checksums

# made FOLDER: by a clone in that folder.
made() {
	git clone --quiet --local "$root" "$work/$1" &&
		(
			cd "$work/$1" || exit
			export ZIG_GLOBAL_CACHE_DIR="$work/$1/zig" \
				ZIG_LOCAL_CACHE_DIR="$work/$1/zig"
			# Parts are a list.
			# shellcheck disable=SC2086
			scripts/release.sh out $parts
		)
}
both() {
	made one > "$work/made" 2>&1 && sleep 1 &&
		(umask 077 && TZ=Asia/Tokyo made far/away/two) \
			> "$work/made_again" 2>&1
}
mkdir -p "$work/far/away"
ok made both
[ "$failed" -eq 0 ] || cat "$work"/made* >&2
ok same diff -r "$work/one/out" "$work/far/away/two/out"
sums() {
	cd "$work/one/out" && sha256sum --check --quiet SHA256SUMS
}
ok checksums sums

# Each part exists; one that could not be built does not count as passed.
set -f
files() {
	case $1 in
	source) echo 'gpupool-*[0-9].tar.gz' ;;
	docs | page) echo "gpupool-*-$1.tar.gz" ;;
	deb)
		for package in gpupool libgpupool0 libgpupool-dev gpupool-doc; do
			echo "${package}_*.deb"
		done
		;;
	wheel)
		for platform in ${PLATFORMS:-manylinux_x86_64 manylinux_aarch64 \
			musllinux_x86_64 musllinux_aarch64}; do
			echo "*-${platform%%_*}_*_${platform#*_}.whl"
		done
		;;
	esac
}
there() {
	for pattern in $(files "$1"); do
		find "$work/one/out" -name "$pattern" | grep -q . || {
			echo "there is no $pattern"
			return 1
		}
	done
}
for piece in ${parts:-source docs deb page wheel}; do
	why=$(sed -n "s/^left out: $piece: //p" "$work/made")
	if [ -n "$why" ]; then
		echo "skip release-$piece: $why"
	else
		ok "$piece" there "$piece"
	fi
done
exit "$failed"
