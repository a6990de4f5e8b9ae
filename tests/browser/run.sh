#!/bin/sh
# SPDX-License-Identifier: MIT
# What can be read of a page of --format html where nothing replays in it, in a
# real browser, headless: its numbers are the report's, and tables sort.  (The
# page that replays: page.sh.)  CHROMIUM names the browser; without one each
# test is skipped.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
built=${BUILD:-$root/build}/gpupool
part=browser
. "$root/tests/script.inc"
# Without gpupool.wasm beside it.
gpupool=$work/gpupool
cp "$built" "$gpupool"

chromium=${CHROMIUM-}
for name in chromium chromium-browser google-chrome; do
	[ -n "$chromium" ] || chromium=$(command -v "$name")
done
[ -n "$chromium" ] || skip_all "chromium is not on this machine" renders \
	numbers findings peak compare small sweep stack hostile no-script policy

# The page after its scripts have run.
dump() {
	timeout 120 "$chromium" --headless --no-sandbox --disable-gpu \
		--disable-dev-shm-usage --user-data-dir="$work/profile" \
		--window-size=1200,1600 --virtual-time-budget=3000 \
		--dump-dom "$@" 2> "$work/log"
}

# A page does not let our script run: without its policy it does.
with_script() {
	sed 's/<meta http-equiv="Content-Security-Policy"[^>]*>//' "$1"
	cat "$2"
}

trace=$root/traces/recorded/fsdp-rank0-of-64.default.pickle.gz
"$gpupool" replay -q "$trace" --format html -o "$work/page.html"
"$gpupool" replay -q "$trace" --format json -o "$work/report.json"
dump "file://$work/page.html" > "$work/dom.html"

renders() {
	grep -q '<html[^>]* data-tables="ready"' "$work/dom.html" ||
		{ echo "the script did not get to its end"; return 1; }
	[ "$(grep -o '<svg [^>]*>' "$work/dom.html" |
		grep -vc 'class="bar"')" -eq 2 ] ||
		{ echo "there are not two pictures"; return 1; }
}

# The value of a member of at_peak, and the text on the page for it.
numbers() {
	sed -n '/"at_peak": {$/,/}/p' "$work/report.json" |
		sed -n 's/^ *"\([a-z_]*\)": \([0-9.]*\),*$/\1 \2/p' |
		grep -v '^event ' > "$work/numbers"
	[ "$(wc -l < "$work/numbers")" -ge 10 ] ||
		{ echo "the report has too few numbers"; return 1; }
	while read -r key value; do
		grep -q "data-key=\"$key\" data-value=\"$value\"" \
			"$work/dom.html" ||
			{ echo "$key is not $value on the page"; return 1; }
	done < "$work/numbers"
}

# What pins free memory is on the page as in explain, and a click on a column's
# head sorts it.
findings() {
	"$gpupool" explain -q "$trace" --format json > "$work/why.json"
	sed -n '/"pins_now": \[/,/\]/s/.*"segments": \([0-9]*\), "bytes": \([0-9]*\),.*/\2/p' \
		"$work/why.json" | head -n 12 > "$work/pins"
	[ "$(wc -l < "$work/pins")" -ge 3 ] ||
		{ echo "explain names too few blocks"; return 1; }
	sed -n '/data-table="pins_now"/,/<\/table>/p' "$work/dom.html" |
		grep -o 'data-key="bytes" data-value="[0-9]*"' |
		grep -o '[0-9][0-9]*' | cmp - "$work/pins" || return 1
	cat > "$work/sort.js" <<-'END'
	<script>
	document.querySelector("[data-table=pins_now] th:last-child button")
		.click();
	</script>
	END
	with_script "$work/page.html" "$work/sort.js" > "$work/sorted.html"
	dump "file://$work/sorted.html" > "$work/sorted.dom"
	sed -n '/data-table="pins_now"/,/<\/table>/p' "$work/sorted.dom" |
		grep -o 'data-key="events" data-value="[0-9]*"' |
		grep -o '[0-9][0-9]*' > "$work/ages"
	sort -rn "$work/ages" | cmp - "$work/ages"
}

# The map is that of the peak.
peak() {
	peak=$(sed -n '/"at_peak": {/,/}/s/ *"event": \([0-9]*\),/\1/p' \
		"$work/report.json" | head -n 1)
	grep '<p class="when"' "$work/dom.html" | tr -d , |
		grep -q "event $peak)"
}

# The difference of two runs comes first.
compare() {
	"$gpupool" replay -q "$trace" --expandable-segments --compare \
		--format html -o "$work/two.html"
	dump "file://$work/two.html" > "$work/two.dom"
	[ "$(grep -o '<svg [^>]*>' "$work/two.dom" |
		grep -vc 'class="bar"')" -eq 4 ] ||
		{ echo "there are not four pictures"; return 1; }
	grep -o '<table[^>]*>' "$work/two.dom" | head -n 1 |
		grep -q differences ||
		{ echo "the difference is not the first table"; return 1; }
	"$gpupool" replay -q "$trace" --expandable-segments --compare \
		--format json > "$work/two.json"
	first=
	for peak in $(sed -n \
		's/^ *"peak_reserved_bytes": \([0-9]*\),/\1/p' \
		"$work/two.json"); do
		grep -q "data-key=\"peak_reserved_bytes\" data-value=\"$peak\"" \
			"$work/two.dom" || { echo "no $peak"; return 1; }
		[ -z "$first" ] ||
			grep -q "data-value=\"$((peak - first))\"" \
				"$work/two.dom" ||
			{ echo "no $((peak - first))"; return 1; }
		first=$peak
	done
}

# Names in a trace must not become part of the page.
hostile() {
	cat > "$work/hostile.json" <<-'END'
	{"format": "gpupool-trace", "version": 1,
	 "sites": ["</script><script>document.title='broken'</script>",
	  "<script>document.title='broken'</script>"],
	 "devices": [{"device": 0, "events": [
	 {"op": "alloc", "id": 1, "size": 4, "site": 0},
	 {"op": "alloc", "id": 2, "size": 9999999, "site": 1},
	 {"op": "free", "id": 1}]}]}
	END
	cp "$work/hostile.json" "$work/<img src=x onerror=alert(1)>.json"
	"$gpupool" explain -q "$work/<img src=x onerror=alert(1)>.json" \
		--capacity 8MiB --format html -o "$work/hostile.html" ||
		return 1
	dump "file://$work/hostile.html" > "$work/hostile.dom"
	grep -q 'data-tables="ready"' "$work/hostile.dom" ||
		{ echo "the script did not get to its end"; return 1; }
	! grep -q '<img\|<title>broken\|<script>document' \
		"$work/hostile.dom" ||
		{ echo "text of the trace is part of the page"; return 1; }
}

# A page stays small, however many events there are: 2 MB are allowed.
small() {
	"$gpupool" gen -q ragged steps=2000 -o "$work/long.bin" \
		2> "$work/needs"
	ln -sf "$root/traces/recorded/gpt2-ragged.default.pickle.zst" \
		"$work/gpt2.bin"
	for page in gpt2 long; do
		"$gpupool" replay -q "$work/$page.bin" --format html \
			-o "$work/$page.html"
		bytes=$(wc -c < "$work/$page.html")
		[ "$bytes" -lt 2000000 ] ||
			{ echo "$page.html has $bytes bytes"; return 1; }
	done
}

# A sweep's table has the numbers of its CSV, in the same order, until a click
# on a column's head sorts it; each combination is a point.
sweep() {
	"$gpupool" sweep -q "$trace" --format csv -o "$work/sweep.csv"
	"$gpupool" sweep -q "$trace" --format html -o "$work/sweep.html"
	sed -n 's/^[0-9][0-9]*,[0-9]*,"[^"]*",[^,]*,[^,]*,[^,]*,\([0-9]*\),.*/\1/p' \
		"$work/sweep.csv" > "$work/want"
	[ "$(wc -l < "$work/want")" -ge 10 ] ||
		{ echo "the sweep has too few rows"; return 1; }
	dump "file://$work/sweep.html" > "$work/sweep.dom"
	reserved "$work/sweep.dom" > "$work/got"
	sed '$d' "$work/got" | cmp - "$work/want" || return 1
	points=$(grep -o '<circle' "$work/sweep.dom" | wc -l)
	[ "$points" -eq "$(wc -l < "$work/got")" ] ||
		{ echo "$points points"; return 1; }
	cat > "$work/sort.js" <<-'END'
	<script>
	document.querySelectorAll("[data-table=ranking] th button")[1].click();
	</script>
	END
	with_script "$work/sweep.html" "$work/sort.js" > "$work/resorted.html"
	dump "file://$work/resorted.html" > "$work/resorted.dom"
	reserved "$work/resorted.dom" > "$work/got"
	sort -rn "$work/got" | cmp - "$work/got"
}

reserved() {
	sed -n '/data-table="ranking"/,/<\/table>/p' "$1" |
		grep -o 'data-key="reserved" data-value="[0-9]*"' |
		grep -o '[0-9][0-9]*'
}

# Holders of memory have their whole stack.
stack() {
	"$gpupool" replay -q "$root/traces/tiny/cpp-frames.json" --format html \
		-o "$work/stack.html"
	dump "file://$work/stack.html" | grep -q '<li>_start</li></ol>'
}

# Readable without scripts: the file itself has drawings and numbers.
without_script() {
	sed '/^<script>$/,/^<\/script>$/d' "$work/page.html" > "$work/still.html"
	dump "file://$work/still.html" > "$work/still.dom"
	[ "$(grep -o '<svg [^>]*>' "$work/still.dom" |
		grep -vc 'class="bar"')" -eq 2 ] &&
		grep -q 'class="headline">As it is, it needs' "$work/still.dom" &&
		grep -q 'data-table="pins_now"' "$work/still.dom" &&
		! grep -q '<canvas' "$work/still.dom"
}

# Only the page's own script and style may run.
policy() {
	cat > "$work/strange.js" <<-'END'
	<script>document.documentElement.dataset.strange = "yes";</script>
	<style>main { display: none; }</style>
	END
	for page in page sweep; do
		cat "$work/$page.html" "$work/strange.js" > "$work/strange.html"
		dump "file://$work/strange.html" > "$work/strange.dom"
		! grep -q 'data-strange' "$work/strange.dom" ||
			{ echo "a strange script ran"; return 1; }
	done
	dump "file://$work/page.html" --enable-logging=stderr > "$work/dom"
	! grep -q 'Content Security Policy' "$work/log" ||
		{ echo "the page breaks its own policy"; return 1; }
}

ok renders renders
ok numbers numbers
ok findings findings
ok peak peak
ok compare compare
ok hostile hostile
ok small small
ok sweep sweep
ok stack stack
ok no-script without_script
ok policy policy
exit "$failed"
