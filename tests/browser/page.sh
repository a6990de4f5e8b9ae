#!/bin/sh
# SPDX-License-Identifier: MIT
# The page that replays (gpupool page) in headless Chromium and Firefox: files
# are read, controls answer, answers are the command line's to the byte, and
# nothing is sent anywhere.  Without gpupool.wasm, or without a browser, the
# tests are skipped and say so.
#
#	tests/browser/page.sh [FOLDER FOR PICTURES]
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "${BUILD:-$root/build}" && pwd)
gpupool=$build/gpupool

if [ ! -f "$build/gpupool.wasm" ]; then
	echo "skip page: there is no gpupool.wasm (make wasm)"
	exit 0
fi
if ! command -v python3 > /dev/null; then
	echo "skip page: python3 is not on this machine"
	exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

trace=$root/traces/recorded/fsdp-rank0-of-64.default.pickle.gz
"$gpupool" page -q -o "$work/gpupool.html" &&
	"$gpupool" page -q "$trace" --max-split-mb 128 --capacity 5GiB \
		-o "$work/inside.html" &&
	"$gpupool" replay -q "$trace" --max-split-mb 128 --capacity 5GiB \
		--format html -o "$work/replayed.html" &&
	"$gpupool" replay -q "$trace" --sort-step --compare --format html \
		-o "$work/compared.html" &&
	"$gpupool" gen -q ragged steps=1724 -o "$work/long.bin" &&
	"$gpupool" gen -q ragged steps=6950 -o "$work/million.bin" &&
	"$gpupool" gen -q ragged steps=24000 -o "$work/larger.bin" &&
	"$gpupool" convert -q --run "$work/larger.bin" "$work/large.pickle" || {
	echo "FAIL page: it could not be written"
	exit 1
}

failed=0
for kind in chromium firefox; do
	browser=
	for name in "$kind" chromium-browser google-chrome firefox-esr; do
		case $name in
		"$kind"*) ;;
		google-chrome) [ "$kind" = chromium ] || continue ;;
		*) continue ;;
		esac
		[ -n "$browser" ] || browser=$(command -v "$name")
	done
	if [ -z "$browser" ]; then
		echo "skip page-$kind: $kind is not on this machine"
		continue
	fi
	timeout 600 python3 "$here/page.py" "$kind" "$browser" "$gpupool" \
		"$work" "$@" 2> "$work/log" || {
		failed=1
		tail -n 5 "$work/log"
	}
	set -- # pictures are Chromium's
done
exit "$failed"
