#!/bin/sh
# Real snapshots: every address in those with events is the one that PyTorch
# chose, and the totals of those with a state only are their segments' sums.
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

# Each device must have something to check, and all of it must match.
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
	" $matched") echo "ok $name" ;;
	*) fail "$name" "of $checked addresses only $matched match" ;;
	esac
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
		*\** | *-state-only.pickle) ;;
		*/snapshots/* | *.default.*) check_events "$file" ;;
		esac
	done
done
exit "$failed"
