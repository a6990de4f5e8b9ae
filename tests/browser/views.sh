#!/bin/sh
# SPDX-License-Identifier: MIT
# The views of a run in a real browser, headless, with answers of the program
# itself: what they show is what it says, by mouse and by keyboard, and nothing
# that a trace names becomes part of the page.  CHROMIUM names the browser;
# without one each test is skipped.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/tests/browser
gpupool=${BUILD:-$root/build}/gpupool
part=views
. "$root/tests/script.inc"
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT

chromium=${CHROMIUM-}
for name in chromium chromium-browser google-chrome; do
	[ -n "$chromium" ] || chromium=$(command -v "$name")
done
missing=
[ -n "$chromium" ] || missing="chromium is"
command -v python3 > /dev/null || missing="python3 is"
[ -z "$missing" ] || skip_all "$missing not on this machine" draws by zoom \
	click step find end walk destroy hostile others wrong-trace

mkfifo "$work/stdin"
python3 "$here/serve.py" "$gpupool" "$root/src/report/page" "$here" \
	"$work/dom" < "$work/stdin" > "$work/port" &
server=$!
exec 3> "$work/stdin"
tries=100
while [ ! -s "$work/port" ] && [ "$tries" -gt 0 ]; do
	sleep 0.1
	tries=$((tries - 1))
done
port=$(cat "$work/port")

# visit QUERY: the final state of the page, in $work/dom.
visit() {
	rm -f "$work/dom"
	"$chromium" --headless --no-sandbox --disable-gpu \
		--disable-dev-shm-usage --user-data-dir="$work/profile" \
		--window-size=1200,1600 --enable-logging=stderr \
		--remote-debugging-port=0 \
		"http://127.0.0.1:$port/views.html?$1" \
		> "$work/log" 2>&1 &
	browser=$!
	tries=300
	while [ ! -e "$work/dom" ] && [ "$tries" -gt 0 ]; do
		sleep 0.1
		tries=$((tries - 1))
	done
	kill "$browser" 2> /dev/null
	wait "$browser" 2> /dev/null
	[ -e "$work/dom" ] || {
		grep CONSOLE "$work/log" | head -n 1
		echo "the page did not get to its end: $(tail -n 1 "$work/log")"
		return 1
	}
}

# Whether the page has it; a fixed string.
has() {
	grep -qF -- "$1" "$work/dom" || {
		echo "the page does not have $1"
		return 1
	}
}

# answer VIEW ARGUMENT...: the program's answer, in $work/answer.
answer() {
	"$gpupool" view "$@" --format json -q > "$work/answer"
}

# The first value of a key in it.
value() {
	sed -n "s/^ *\"$1\": \([0-9]*\),*$/\1/p" "$work/answer" | head -n 1
}

gpt2=$root/traces/recorded/gpt2-ragged.default.pickle.zst
nightly=$root/traces/stories/service-drifts-by-night.jsonl

# Each view shows the program's own sums, at the peak.
draws() {
	visit "trace=$gpt2" || return 1
	answer holders "$gpt2" --at peak
	allocated=$(value allocated_bytes)
	[ "$allocated" -gt 0 ] || { echo "nothing is allocated"; return 1; }
	has "data-allocated=\"$allocated\"" || return 1
	answer state "$gpt2" --at peak
	has "data-reserved=\"$(value reserved_bytes)\"" || return 1
	has "data-found=\"$(value events)\"" || return 1
	has 'data-bands="800"' || return 1
	rows=$(grep -o '<tr data-bytes="[0-9]*"' "$work/dom" |
		grep -o '[0-9][0-9]*' | paste -sd+ | bc)
	[ "$rows" = "$allocated" ] ||
		{ echo "holders add up to $rows, not $allocated"; return 1; }
}

# Colours depend on what the trace has: modules, if there are any.
by_what() {
	owners=$root/tests/fuzz/fuzz_input/owners.jsonl
	for trace in "$owners" "$gpt2"; do
		visit "trace=$trace&only=holders" || return 1
		answer holders "$trace"
		sed -n 's/^ *"bys": \[\(.*\)\],$/\1/p' "$work/answer" |
			tr -d '" ' > "$work/want"
		grep -o '<option value="[a-z]*">[a-z]*<' "$work/dom" |
			sed 's/.*>\(.*\)</\1/' | paste -sd, |
			cmp - "$work/want" || return 1
	done
	grep -q module "$work/want" && return 1
	visit "trace=$owners&only=holders" && has '<option value="module">'
}

# Zoomed in to single events, the band chosen by keyboard is that block.
zoom() {
	visit "trace=$gpt2&only=bands&event=20000&do=zoom" || return 1
	from=$(grep -o 'data-from="[0-9]*"' "$work/dom" | grep -o '[0-9]*')
	to=$(grep -o 'data-to="[0-9]*"' "$work/dom" | grep -o '[0-9]*')
	[ $((to - from)) -le 8 ] ||
		{ echo "$from to $to are not single events"; return 1; }

}

# The block shown is the one that the program finds by its id, and the page
# shows its stack or says that there is none.
at_block() {
	told=$(grep -o '"block",{[^}]*}' "$work/dom" | head -n 1)
	id=$(echo "$told" | sed 's/.*"id":\([0-9]*\).*/\1/')
	event=$(echo "$told" | sed 's/.*"event":\([0-9]*\).*/\1/')
	[ -n "$id" ] || { echo "no block was told of"; return 1; }
	answer block "$1" --block "$id" --at "$event" 2> "$work/said2" || return 1
	size=$(value bytes)
	has "data-block=\"$id\"" || return 1
	has "($(printf %s "$size" | sed ':a
		s/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/
		ta') B)"
}

# A click on the picture selects the block there: 6 of 348 pixels from the
# bottom of a plot that ends 2 % above the reserved bytes.
story=$root/traces/stories/every-other-of-100.jsonl
clicked() {
	visit "trace=$story&only=bands&do=click" || return 1
	event=$(grep -o '"block",{[^}]*}' "$work/dom" | head -n 1 |
		sed 's/.*"event":\([0-9]*\).*/\1/')
	at_block "$story" || return 1
	answer state "$story" --at peak
	byte=$(($(value reserved_bytes) * 102 / 100 * 6 / 348))
	answer block "$story" --at "$event" --byte "$byte"
	has "data-block=\"$(value id)\""
}

zoomed() {
	zoom && at_block "$gpt2"
}

# Three steps down the list is event 3, which the other views follow.
step() {
	visit "trace=$gpt2&do=step" || return 1
	answer state "$gpt2" --at 3
	has '["events","moment",{"event":3}]' || return 1
	has "data-event=\"3\" data-reserved=\"$(value reserved_bytes)\""
}

# The results are those of the program, and the last row of a long list is its
# last event.
find_text() {
	visit "trace=$nightly&only=events&do=find&text=KEEP_session" || return 1
	answer events "$nightly" --find KEEP_session
	[ "$(value found)" -gt 0 ] || { echo "nothing is found"; return 1; }
	has "data-found=\"$(value found)\""
}
at_end() {
	visit "trace=$gpt2&only=events&do=end" || return 1
	answer events "$gpt2" --rows 1
	has "aria-rowindex=\"$(value events)\" aria-selected=\"true\""
}

# The first block of the largest segment.
walk() {
	visit "trace=$nightly&only=map&do=walk" || return 1
	at_block "$nightly"
}

destroy() {
	visit "trace=$gpt2&do=destroy" || return 1
	has '[0,0,0,0]'
}

# Names are texts, wherever they stand.
hostile() {
	cat > "$work/hostile.json" <<-'END'
	{"format": "gpupool-trace", "version": 1,
	 "sites": ["<img src=x onerror=alert(1)>.py:1 </script><b>"],
	 "devices": [{"device": 0, "events": [
	  {"op": "mark", "name": "</td><script>alert(2)</script>"},
	  {"op": "alloc", "id": 1, "size": 4194304, "site": 0}]}]}
	END
	visit "trace=$work/hostile.json&do=walk" || return 1
	if grep -qE '<img|<b>|<script>alert' "$work/dom"; then
		echo "a name became markup"
		return 1
	fi
	has '&lt;img src=x onerror=alert(1)&gt;'
}

# No requests; memory from before; a stream that is waited for; no such file.
others() {
	echo '{"format": "gpupool-trace", "version": 1, "devices":
		[{"device": 0}]}' > "$work/empty.json"
	for trace in "$work/empty.json" "$root/traces/tiny/"*start*.json \
		"$root/traces/tiny/free-waits-for-another-stream.json"; do
		visit "trace=$trace&do=walk" || { echo "$trace"; return 1; }
	done
}
wrong_trace() {
	visit "trace=$work/nothing.json" || return 1
	[ "$(grep -o 'nothing.json: cannot open it' "$work/dom" | wc -l)" -ge 4 ] ||
		{ echo "not every view says what is wrong"; return 1; }
}

ok draws draws
ok by by_what
ok zoom zoomed
ok click clicked
ok step step
ok find find_text
ok end at_end
ok walk walk
ok destroy destroy
ok hostile hostile
ok others others
ok wrong-trace wrong_trace
exec 3>&-
exit "$failed"
