#!/bin/sh
# SPDX-License-Identifier: MIT
# The page of --format html in a real browser, headless: it renders, its
# numbers are the report's, and a click on the timeline shows that moment's
# map.  CHROMIUM names the browser; without one each test is skipped.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
gpupool=${BUILD:-$root/build}/gpupool
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

chromium=${CHROMIUM-}
for name in chromium chromium-browser google-chrome; do
	[ -n "$chromium" ] || chromium=$(command -v "$name")
done
if [ -z "$chromium" ]; then
	for test in renders numbers findings peak event click keyboard compare \
		small sweep stack hostile no-script policy; do
		echo "skip browser-$test: chromium is not on this machine"
	done
	exit 0
fi

failed=0
# ok NAME COMMAND...
ok() {
	name=browser-$1
	shift
	if "$@" > "$work/said" 2>&1; then
		echo "ok $name"
	else
		echo "FAIL $name: $(tail -n 1 "$work/said")"
		failed=1
	fi
}

# What a page looks like when its scripts have run.
dump() {
	timeout 120 "$chromium" --headless --no-sandbox --disable-gpu \
		--disable-dev-shm-usage --user-data-dir="$work/profile" \
		--window-size=1200,1600 --virtual-time-budget=3000 \
		--dump-dom "$@" 2> "$work/log"
}

# A page does not let a script of ours run: without its policy it does.
with_script() {
	sed 's/<meta http-equiv="Content-Security-Policy"[^>]*>//' "$1"
	cat "$2"
}

trace=$root/traces/recorded/fsdp-rank0-of-64.default.pickle.gz
"$gpupool" replay -q "$trace" --format html -o "$work/page.html"
"$gpupool" replay -q "$trace" --format json -o "$work/report.json"
dump "file://$work/page.html" > "$work/dom.html"

renders() {
	grep -q '<html[^>]* data-ready="yes"' "$work/dom.html" ||
		{ echo "the script did not get to its end"; return 1; }
	[ "$(grep -o '<canvas' "$work/dom.html" | wc -l)" -eq 2 ] ||
		{ echo "there are not two canvases"; return 1; }
}

# The value of a member of at_peak, and what the page shows for it.
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

# What holds free memory stands on the page as explain has it, and a click on
# a column's head sorts it.
findings() {
	"$gpupool" explain -q "$trace" --format json > "$work/why.json"
	sed -n '/"pins_now": \[/,/\]/s/.*"segments": \([0-9]*\), "bytes": \([0-9]*\),.*/\2/p' \
		"$work/why.json" | head -n 12 > "$work/strands"
	[ "$(wc -l < "$work/strands")" -ge 3 ] ||
		{ echo "explain names too few blocks"; return 1; }
	sed -n '/data-table="pins_now"/,/<\/table>/p' "$work/dom.html" |
		grep -o 'data-key="bytes" data-value="[0-9]*"' |
		grep -o '[0-9][0-9]*' | cmp - "$work/strands" || return 1
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

# at EVENT PAGE: the map's own sums, of the first run.
sums_of() {
	grep -o '<p class="when"[^>]*>' "$1" | sed -n "${2}p" |
		grep -o 'data-[a-z]*="[0-9]*"'
}

# The same from the timeline, whose rows are exact.
expect_moment() {
	row=$(grep "^0,$2," "$work/t.csv") ||
		{ echo "event $2 is not in the timeline"; return 1; }
	reserved=$(echo "$row" | cut -d, -f3)
	active=$(echo "$row" | cut -d, -f5)
	sums=$(sums_of "$1" 1)
	for want in "event=\"$2\"" "reserved=\"$reserved\"" \
		"active=\"$active\""; do
		case $sums in
		*"data-$want"*) ;;
		*)
			echo "not data-$want but" $sums
			return 1
			;;
		esac
	done
}

at_event() {
	dump "file://$work/page.html#event=$1" > "$work/at.html"
	expect_moment "$work/at.html" "$1"
}

# A script beside the page's clicks the middle of the timeline.
click() {
	cat > "$work/click.js" <<-'END'
	<script>
	setTimeout(() => {
		const c = document.querySelector(".timeline canvas");
		const box = c.getBoundingClientRect();
		const where = { bubbles: true, clientY: box.top + 100,
			clientX: box.left + 76 + (box.width - 84) / 2 };
		c.dispatchEvent(new PointerEvent("pointerdown", where));
		c.dispatchEvent(new PointerEvent("pointerup", where));
		c.dispatchEvent(new MouseEvent("click", where));
	}, 200);
	</script>
	END
	with_script "$work/page.html" "$work/click.js" > "$work/clicked.html"
	dump "file://$work/clicked.html" > "$work/clicked.dom"
	event=$(sums_of "$work/clicked.dom" 1 |
		sed -n 's/data-event="\(.*\)"/\1/p')
	events=$(sed -n 's/.*"events": \([0-9]*\).*/\1/p' \
		"$work/report.json" | head -n 1)
	[ "$event" -gt $((events / 2 - events / 50)) ] &&
		[ "$event" -lt $((events / 2 + events / 50)) ] ||
		{ echo "clicked the middle of $events, got $event"; return 1; }
	here=$(COLUMNS=200 "$gpupool" replay -q "$trace" --map "$event" |
		sed -n 's/^Memory at.*: \(.*\) reserved, .*/\1/p')
	there=$(grep -o ' segments, [^;]* reserved;' "$work/clicked.dom" |
		sed 's/ segments, \(.*\) reserved;/\1/' | head -n 1)
	[ -n "$here" ] && [ "$here" = "$there" ] ||
		{ echo "the map says $there, the page $here"; return 1; }
}

# The timeline is a slider for the keyboard and for screen readers.
keyboard() {
	# Frames are drawn at once: when they would be drawn is not what is
	# tested.
	cat > "$work/keys.js" <<-'END'
	<script>
	for (const key of ["Home", "ArrowRight", "ArrowRight", "PageDown",
		"PageUp", "ArrowLeft", "+"])
		document.querySelector(".timeline canvas").dispatchEvent(
			new KeyboardEvent("keydown",
				{ key, bubbles: true, cancelable: true }));
	</script>
	END
	at_once='window.requestAnimationFrame = draw => { draw(); return 1; };'
	with_script "$work/page.html" "$work/keys.js" |
		sed "s|<body>|<body><script>$at_once</script>|" \
		> "$work/keyed.html"
	dump "file://$work/keyed.html" > "$work/keyed.dom"
	[ "$(sums_of "$work/keyed.dom" 1 |
		sed -n 's/data-event="\(.*\)"/\1/p')" = 1 ] ||
		{ echo "the keys did not lead to event 1"; return 1; }
	grep -q '<canvas[^>]*role="slider"[^>]*aria-valuenow="1"[^>]*aria-valuetext="[^"]*event 1)\{0,1\}: ' \
		"$work/keyed.dom"
}

compare() {
	"$gpupool" replay -q "$trace" --expandable-segments --compare \
		--format html -o "$work/two.html"
	dump "file://$work/two.html" > "$work/two.dom"
	[ "$(grep -o '<canvas' "$work/two.dom" | wc -l)" -eq 4 ] ||
		{ echo "there are not four canvases"; return 1; }
}

# What a trace is called must not become part of the page.
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
	grep -q 'data-ready="yes"' "$work/hostile.dom" ||
		{ echo "the script did not get to its end"; return 1; }
	! grep -q '<img\|<title>broken\|<script>document' \
		"$work/hostile.dom" ||
		{ echo "text of the trace is part of the page"; return 1; }
}

# A page stays small, however many events there are: 2 MB are asked for.
small() {
	"$gpupool" replay -q \
		"$root/traces/recorded/gpt2-ragged.default.pickle.zst" \
		--format html -o "$work/gpt2.html"
	"$gpupool" gen -q ragged steps=2000 -o "$work/long.bin" \
		2> "$work/needs"
	"$gpupool" replay -q "$work/long.bin" --format html \
		-o "$work/long.html"
	for page in gpt2 long; do
		bytes=$(wc -c < "$work/$page.html")
		[ "$bytes" -lt 2000000 ] ||
			{ echo "$page.html has $bytes bytes"; return 1; }
	done
}

# A sweep's table has the numbers of its CSV, in their order, until a click on
# a column's head sorts it anew; each combination is a point.
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

# Readable without scripts: drawings and numbers stand in the file itself.
# A block of the map stays told when it is clicked, with its whole stack.
stack() {
	cat > "$work/stack.js" <<-'END'
	<script>
	setTimeout(() => {
		const c = document.querySelector(".map canvas");
		const box = c.getBoundingClientRect();
		for (let x = 4; x < box.width; x += 4)
			if (document.querySelector(".stack").hidden)
				c.dispatchEvent(new MouseEvent("click", {
					bubbles: true, clientY: box.top + 8,
					clientX: box.left + x }));
	}, 200);
	</script>
	END
	with_script "$work/page.html" "$work/stack.js" > "$work/stack.html"
	dump "file://$work/stack.html" > "$work/stack.dom"
	grep -q '<pre class="stack">[0-9.]* [KMG]*i*B allocated' \
		"$work/stack.dom"
}

without_script() {
	sed '/^<script>$/,/^<\/script>$/d' "$work/page.html" > "$work/still.html"
	dump "file://$work/still.html" > "$work/still.dom"
	[ "$(grep -o '<svg [^>]*>' "$work/still.dom" |
		grep -vc 'class="bar"')" -eq 2 ] &&
		grep -q 'class="headline">It fits' "$work/still.dom" &&
		grep -q 'data-table="pins_now"' "$work/still.dom" &&
		! grep -q '<canvas' "$work/still.dom"
}

# Only the page's own script and style are let in.
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

"$gpupool" replay -q "$trace" --timeline "$work/t.csv" -o "$work/report"
peak=$(sed -n '/"at_peak": {/,/}/s/ *"event": \([0-9]*\),/\1/p' \
	"$work/report.json" | head -n 1)

ok renders renders
ok numbers numbers
ok findings findings
ok peak expect_moment "$work/dom.html" "$peak"
early=$(sed -n '200p' "$work/t.csv" | cut -d, -f2)
ok event at_event "$early"
ok click click
ok keyboard keyboard
ok compare compare
ok hostile hostile
ok small small
ok sweep sweep
ok stack stack
ok no-script without_script
ok policy policy
exit "$failed"
