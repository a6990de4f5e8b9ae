#!/bin/sh
# SPDX-License-Identifier: MIT
# Other frameworks' own allocators from wheels (scripts/wheel-engine.sh): RMM's
# serve requests, and agree with RMM's replay, pointer for pointer; and the
# engines bfc and cupy agree, block for block, with TensorFlow's, jaxlib's and
# CuPy's. WHEEL_ENGINES is the folder, by default build/engines.  JAX_CASES and
# CUPY_CASES are the numbers of programs generated for these two. WHEELS names
# those that are prepared first, each within FETCH_SECONDS: in CI "rmm
# tensorflow jax cupy".
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
	[ -e "$engines/$1" ] || [ -e "$engines/$1.so" ] && return
	echo "skip wheel_engines $1: scripts/wheel-engine.sh build/engines $2"
	return 1
}

# An engine that is not available is named and skipped; one that cannot be built
# is a failure.
for which in ${WHEELS-}; do
	timeout "${FETCH_SECONDS:-300}" "$root/scripts/wheel-engine.sh" \
		"$engines" "$which" > said 2>&1 && continue
	grep -qE 'pip has no wheel|is missing; on Debian' said || [ ! -s said ] ||
		fail "$which: $(tail -n 3 said)"
done

# events TRACE CAPACITY ENGINE: its actions, with addresses.
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

# Addresses, sizes, and the memory returned to the device.
if prepared tensorflow-bfc tensorflow; then
	for capacity in 20GiB 700MiB 300MiB; do
		same "$capacity" ""
		same "$capacity" :garbage_collection=false BFC_KEEP=1
		same "$capacity" :preallocate=true:fraction=0.75 \
			BFC_PREALLOCATE=1 BFC_FRACTION=0.75
	done
fi

# Each obeys the rules for engines, except that it does not release memory, for
# which RMM has no call; and bins take a GiB at once, which a small device does
# not have.
for kind in pool grow arena binning async; do
	prepared rmm-$kind rmm || continue
	"$build/gpupool" check-engine "$engines/rmm-$kind.so" > said 2> error
	wrong=$(grep -c '^WRONG' said)
	[ $kind = binning ] && grep -q 'it created no' said &&
		wrong=$((wrong - 2))
	if [ "$wrong" -ne 1 ] || ! grep -q '^WRONG releases all memory' said; then
		fail "rmm-$kind: $(cat said)"
	fi
	echo "ok wheel_engines rmm-$kind serves"
done

# The addresses of cudaMallocAsync are the driver's choice.
if prepared rmm-replay rmm; then
	python3 "$root/tests/cli/rmm_log.py" "$build/gpupool" "$engines" \
		"$work" pool grow arena binning > said 2> error ||
		fail "RMM's log: $(tail -n 3 said error)"
	echo "ok wheel_engines RMM's replay of its logs is gpupool's"
fi

# program FOLDER SCRIPT CASES: runs a Python program that compares.
program() {
	PYTHONPATH=$engines/$1 python3 -W ignore "$root/tests/cli/$2" \
		"$build/gpupool" "$work" "$3" > said 2> error ||
		fail "$2: $(tail -n 3 said error)"
}

if prepared jax-driver/libcuda.so.1 jax; then
	LD_LIBRARY_PATH=$engines/jax-driver program jax jax_bfc.py \
		"${JAX_CASES:-12}"
	echo "ok wheel_engines bfc is jaxlib's"
fi
if prepared cupy/cupy cupy; then
	program cupy cupy_pool.py "${CUPY_CASES:-100}"
	echo "ok wheel_engines cupy is CuPy's"
fi
