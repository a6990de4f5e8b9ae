#!/bin/sh
# SPDX-License-Identifier: MIT
# A release is made twice, in other folders, at other times, by other clones, and
# is the same bytes.  PARTS are those of scripts/release.sh: the source alone is
# what fits into make check, make release-check holds what is compiled too.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
parts=${PARTS-source}

git -C "$root" rev-parse --verify HEAD > /dev/null 2>&1 || {
	for test in made same checksums; do
		echo "skip release-$test: this is no checkout of git"
	done
	exit 0
}

failed=0
ok() {
	name=release-$1
	shift
	if "$@" > "$work/said" 2>&1; then
		echo "ok $name"
	else
		echo "FAIL $name: $(tail -n 1 "$work/said")"
		failed=1
	fi
}

# made FOLDER: by a clone that lies there.
made() {
	git clone --quiet --local "$root" "$work/$1" &&
		(
			cd "$work/$1" || exit
			# Parts are a list.
			# shellcheck disable=SC2086
			scripts/release.sh out $parts
		)
}
both() {
	made one && sleep 1 && (umask 077 && TZ=Asia/Tokyo made far/away/two)
}
mkdir -p "$work/far/away"
ok made both
ok same diff -r "$work/one/out" "$work/far/away/two/out"
sums() {
	cd "$work/one/out" && sha256sum --check --quiet SHA256SUMS
}
ok checksums sums
exit "$failed"
