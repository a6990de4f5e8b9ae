#!/bin/sh
# SPDX-License-Identifier: MIT
# The picture in README.md: the page of a bundled trace, as headless Chromium
# shows it.  CHROMIUM names the browser; pngquant makes the file small.
#
#	scripts/screenshot.sh GPUPOOL PNG
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
gpupool=$1
png=$2
trace=$root/traces/recorded/gpt2-ragged.default.pickle.zst
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

chromium=${CHROMIUM-}
for name in chromium chromium-browser google-chrome; do
	[ -n "$chromium" ] || chromium=$(command -v "$name" || :)
done
if [ -z "$chromium" ]; then
	echo "screenshot: chromium is not on this machine" >&2
	exit 4
fi
"$gpupool" explain -q "$trace" --format html -o "$work/page.html"
"$chromium" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
	--user-data-dir="$work/profile" --hide-scrollbars \
	--window-size=1000,1150 --force-device-scale-factor=2 \
	--virtual-time-budget=3000 --screenshot="$work/page.png" \
	"file://$work/page.html" 2> "$work/log"
if command -v pngquant > /dev/null; then
	pngquant --speed 1 --force --output "$png" "$work/page.png"
else
	cp "$work/page.png" "$png"
fi
