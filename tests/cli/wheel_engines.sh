#!/bin/sh
# SPDX-License-Identifier: MIT
# Other frameworks' own allocators out of wheels (scripts/wheel-engine.sh): RMM's
# serve, and do what RMM's replay does, pointer for pointer; and the engine bfc
# does, block for block, what TensorFlow's does.
# WHEEL_ENGINES is the folder, build/engines unless given.  The engine cupy is
# held to CuPy's pool; CUPY_PYTHON is a Python that has cupy, python3 unless given.
# WHEELS names what is prepared first, up to FETCH_SECONDS each: "rmm" in CI.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
engines=${WHEEL_ENGINES:-$build/engines}
traces=$root/traces/recorded/programs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
cd "$work" || exit 1

fail() {
	echo "FAIL wheel_engines $1"
	exit 1
}

# prepared NAME WHAT
prepared() {
	[ -e "$engines/$1.so" ] || [ -x "$engines/$1" ] && return
	echo "skip wheel_engines $1: scripts/wheel-engine.sh build/engines $2"
	return 1
}

# What cannot be had is skipped, by name; what cannot be built has failed.
for which in ${WHEELS-}; do
	timeout "${FETCH_SECONDS:-300}" "$root/scripts/wheel-engine.sh" \
		"$engines" "$which" > said 2>&1 && continue
	grep -qE 'pip has no wheel|is missing; on Debian' said || [ ! -s said ] ||
		fail "$which: $(tail -n 3 said)"
done

# events TRACE CAPACITY ENGINE: what it does, with addresses.
events() {
	"$build/gpupool" replay "$traces/$1" --capacity "$2" --engine "$3" \
		--events - 2> error
}

# same CAPACITY SETTINGS [VARIABLE...]
same() {
	capacity=$1 settings=$2
	shift 2
	for trace in cnn-2.11.jsonl.gz oom-2.11.jsonl.gz fsdp-2.4.jsonl.gz; do
		events $trace "$capacity" "bfc$settings" > ours
		(
			for variable; do
				export "${variable?}"
			done
			events $trace "$capacity" "$engines/tensorflow-bfc.so"
		) > theirs
		[ -s ours ] || fail "bfc$settings: nothing came of $trace"
		cmp -s ours theirs ||
			fail "bfc$settings in $capacity is not TensorFlow's: $trace"
	done
	echo "ok wheel_engines bfc$settings in $capacity is TensorFlow's"
}

# Addresses, sizes, and what goes back to the device.
if prepared tensorflow-bfc tensorflow; then
	for capacity in 20GiB 700MiB 300MiB; do
		same "$capacity" ""
		same "$capacity" :garbage_collection=false BFC_KEEP=1
		same "$capacity" :preallocate=true:fraction=0.75 \
			BFC_PREALLOCATE=1 BFC_FRACTION=0.75
	done
fi

# Each keeps what engines promise but that it gives memory back, for which RMM
# has no call; and bins take a GiB at once, which a small device has not.
for kind in pool grow arena binning async; do
	prepared rmm-$kind rmm || continue
	"$build/gpupool" check-engine "$engines/rmm-$kind.so" > said 2> error
	wrong=$(grep -c '^WRONG' said)
	[ $kind = binning ] && grep -q 'it made no' said &&
		wrong=$((wrong - 2))
	if [ "$wrong" -ne 1 ] || ! grep -q '^WRONG gives all memory' said; then
		fail "rmm-$kind: $(cat said)"
	fi
	echo "ok wheel_engines rmm-$kind serves"
done

# The pointers of cudaMallocAsync are the driver's.
if prepared rmm-replay rmm; then
	python3 "$root/tests/cli/rmm_log.py" "$build/gpupool" "$engines" \
		"$work" pool grow arena binning > said 2> error ||
		fail "RMM's log: $(tail -n 3 said error)"
	echo "ok wheel_engines RMM's replay of its logs is gpupool's"
fi

python=${CUPY_PYTHON:-python3}
if "$python" -W ignore -c 'import cupy' 2> /dev/null; then
	"$python" -W ignore "$root/tests/cli/cupy_pool.py" "$build/gpupool" \
		"$work" 100 > said 2> error ||
		fail "cupy is not CuPy's: $(tail -n 3 said error)"
	echo "ok wheel_engines cupy is CuPy's"
else
	echo "skip wheel_engines cupy: pip install cupy-cuda12x"
fi
