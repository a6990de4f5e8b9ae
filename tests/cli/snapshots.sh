#!/bin/sh
# SPDX-License-Identifier: MIT
# Real snapshots: with events, gpupool chooses every address that PyTorch chose,
# also in a what-if under the recorded settings; with only a state, the totals
# equal the sums over the segments.
#
# The files are not in the repository.  They are looked for in the folder that
# GPUPOOL_SHARED names, else in ../shared beside the checkout.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
shared=${GPUPOOL_SHARED:-$root/../shared}
build=${BUILD:-$root/build}
json=$build/tests/tools/json
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
failed=0

fail() {
	echo "FAIL $1: $2"
	sed 's/^/	/' "$work/err" | head -n 5
	failed=1
}

# Everything on the simulated device is the same as where it was recorded.
happens_again() {
	"$build/gpupool" replay -q "$1" -o "$work/text" \
		--events "$work/recorded" 2> "$work/err" < /dev/null &&
		"$build/gpupool" replay -q "$1" -o "$work/text" \
			--capacity unlimited --events "$work/simulated" \
			2> "$work/err" < /dev/null &&
		cmp "$work/recorded" "$work/simulated" > "$work/err" 2>&1
}

# Each device must have something to check, and everything must match.
check_events() {
	name=$(basename "$1")
	if ! "$build/gpupool" replay "$1" --format json > "$work/report" \
		2> "$work/err" < /dev/null; then
		fail "$name" "it is not replayed"
		return
	fi
	device='runs.0.devices.*.fidelity'
	checked=$("$json" "$work/report" "$device.checked" | tr '\n' ' ')
	matched=$("$json" "$work/report" "$device.matched" | tr '\n' ' ')
	case " $checked" in
	' ' | *' 0 '*) fail "$name" "no address was checked on a device" ;;
	" $matched")
		if happens_again "$1"; then
			echo "ok $name"
		else
			fail "$name" "a simulated device does otherwise"
		fi
		;;
	*) fail "$name" "of $checked addresses only $matched match" ;;
	esac
}

# The sums over the segments of the files with only a state, by another reader:
# reserved, active and requested bytes.
sums="\
torch2.0-inference 7608467456 5683450880 5683449864
torch2.0-oom 11844714496 11840159744 11840159744
torch2.2-attention 8143241216 7626237952 7575726912
torch2.4-kv-cache 17133731840 16397578240 16380108168
torch2.6-rlhf-three-pools 26189234176 25513411584 25483614352"

# Numbers of a JSON file, on one line.
numbers() {
	"$json" "$@" | tr '\n' ' ' | sed 's/ $//'
}

check_state() {
	name=$(basename "$1" -state-only.pickle)
	want=$(echo "$sums" | sed -n "s/^$name //p")
	if ! "$build/gpupool" info "$1" --format json > "$work/info" \
		2> "$work/err" < /dev/null ||
		! "$build/gpupool" replay "$1" --format json > "$work/report" \
			2> "$work/err" < /dev/null; then
		fail "$name" "it is not read"
		return
	fi
	end='devices.*.end'
	said=$(numbers "$work/info" "$end.reserved_bytes" "$end.active_bytes" \
		"$end.requested_bytes")
	stats='runs.0.devices.*.memory_stats'
	got=$(numbers "$work/report" "$stats.reserved_bytes.all.current" \
		"$stats.active_bytes.all.current" \
		"$stats.requested_bytes.all.current")
	if [ "$said" != "$want" ]; then
		fail "$name" "info says $said, not $want"
	elif [ "$got" != "$want" ]; then
		fail "$name" "its replay ends with $got, not $want"
	else
		echo "ok $name"
	fi
}

for folder in snapshots recorded; do
	if [ ! -d "$shared/$folder" ]; then
		echo "skip $folder: there is no folder $folder in" \
			"\$GPUPOOL_SHARED or ../shared"
		continue
	fi
	for file in "$shared/$folder"/*.pickle \
		"$shared/$folder"/*.default.pickle.gz; do
		case $file in
		*\**) ;;
		*-state-only.pickle) check_state "$file" ;;
		*/snapshots/* | *.default.*) check_events "$file" ;;
		esac
	done
done
exit "$failed"
