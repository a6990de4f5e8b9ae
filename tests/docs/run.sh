#!/bin/sh
# SPDX-License-Identifier: MIT
# The pages of make docs: every link leads somewhere, every page is on the start
# page, and the start page finds a flag, in a browser where there is one.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
gpupool=${BUILD:-$root/build}/gpupool
part=docs
. "$root/tests/script.inc"

for need in mandoc python3; do
	command -v "$need" > /dev/null || skip_all \
		"$need is not on this machine" made links again search
done

ok made "$root/scripts/docs.py" "$gpupool" "$work/docs"
ok links python3 "$root/tests/docs/links.py" "$work/docs"
again() {
	"$root/scripts/docs.py" "$gpupool" "$work/again" &&
		diff -r "$work/docs" "$work/again"
}
ok again again

chromium=${CHROMIUM-}
for name in chromium chromium-browser google-chrome; do
	[ -n "$chromium" ] || chromium=$(command -v "$name")
done
if [ -z "$chromium" ]; then
	echo "skip docs-search: chromium is not on this machine"
	exit "$failed"
fi

dump() {
	timeout 120 "$chromium" --headless --no-sandbox --disable-gpu \
		--disable-dev-shm-usage --user-data-dir="$work/profile" \
		--window-size=1280,900 --virtual-time-budget=3000 \
		--dump-dom "file://$work/docs/index.html$1" 2> "$work/log"
}

search() {
	dump '#q=suggest%20capacity' | sed -n '/id="found"/,/<footer>/p' \
		> "$work/dom.html"
	grep -q '<div class="lists" id="found">' "$work/dom.html" ||
		{ echo "the list of what was found is not shown"; return 1; }
	grep '^<li>' "$work/dom.html" |
		grep -q 'href="gpupool-suggest.1.html#capacity"' ||
		{ echo "the flag is not found"; return 1; }
	! grep '^<li>' "$work/dom.html" | grep -q 'gpupool doctor' ||
		{ echo "what has not the words is shown"; return 1; }
}
ok search search
exit "$failed"
