#!/bin/sh
# SPDX-License-Identifier: MIT
# Fetches another framework's own allocator, and builds what it can of it into
# libraries for gpupool --engine:
#
#	scripts/wheel-engine.sh OUT rmm|tensorflow|jax|cupy [WHEEL]
#
# rmm: RAPIDS's memory resources, out of the wheel librmm-cu12 25.12, whose
# headers have them: OUT/rmm-pool.so, rmm-grow.so, rmm-arena.so, rmm-binning.so,
# rmm-async.so; and OUT/rmm-replay, which replays an RMM log through them.
# tensorflow: TensorFlow's BFCAllocator, out of the wheel tensorflow-cpu 2.21:
# OUT/tensorflow-bfc.so.
# jax, cupy: jaxlib 0.10.2 and CuPy 13.6, which tests/cli/jax_bfc.py and
# cupy_pool.py run; and for jaxlib OUT/jax-driver/libcuda.so.1.
# Wheels are fetched with pip; WHEEL is one at hand, of the first two.
# Nothing of the CUDA toolkit and no device is needed.  OUT holds what was
# unpacked, too, for the libraries are linked with it.
set -eu

if [ $# -lt 2 ]; then
	echo "usage: wheel-engine.sh OUT rmm|tensorflow|jax|cupy [WHEEL]" >&2
	exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
out=$1 which=$2 wheel=${3-}
cc=${CC:-gcc} cxx=${CXX:-g++}

fail() {
	echo "wheel-engine.sh: $1" >&2
	exit 1
}

for command in "${cxx%% *}" unzip python3; do
	command -v "$command" > /dev/null ||
		fail "$command is missing; on Debian: apt-get install g++ unzip python3"
done
case $which in
rmm | tensorflow | jax | cupy) ;;
*) fail "there is no $which: rmm, tensorflow, jax or cupy" ;;
esac
mkdir -p "$out/$which"
out=$(cd "$out" && pwd)
tree=$out/$which

# pip REQUIREMENT|OPTION...
pip() {
	python3 -m pip "$@" > "$tree/log" 2>&1 || {
		tail -n 3 "$tree/log" >&2
		fail "pip has no wheel of $which for this machine's python3"
	}
}

# install REQUIREMENT...: for PYTHONPATH.
install() {
	pip install --no-deps --no-compile -q --upgrade --target "$tree" "$@"
}

# fetch REQUIREMENT...: unpacked.
fetch() {
	rm -rf "$tree/download"
	pip download --no-deps -q -d "$tree/download" "$@"
	for packed in "$tree"/download/*.whl; do
		unpack "$packed"
	done
	rm -rf "$tree/download"
}

unpack() {
	[ -f "$1" ] || fail "there is no $1"
	# Of TensorFlow one library of several; unzip answers 11 where a wheel
	# has nothing of that.
	unzip -q -o "$1" '*/include/*' '*/lib64/*' \
		'tensorflow/libtensorflow_framework.so.*' -d "$tree" \
		2> /dev/null || [ $? -eq 11 ] || fail "$1 cannot be unpacked"
}

# build FILE SOURCE [FLAG...]: its headers have warnings of their own.
build() {
	file=$1 source=$2
	shift 2
	# $cxx may hold flags of its own.
	# shellcheck disable=SC2086
	$cxx -std=c++17 -O1 -w -fPIC -DNDEBUG -I"$root/include" \
		-o "$out/.$file" "$root/scripts/engines/$source" "$@"
	mv "$out/.$file" "$out/$file"
}

# The CUDA runtime without a device (src/simcuda), as a library for CUDA's major
# release.
build_runtime() {
	# $cc may hold flags of its own.
	# shellcheck disable=SC2086
	$cc -std=c11 -O1 -fPIC -shared -pthread -D_GNU_SOURCE \
		"-DSIMCUDA_MAJOR=$1" -I"$root/include" -I"$root/src" \
		-I"$root/src/simcuda/api" -o "$out/libgpupool-runtime.so" \
		"$root"/src/simcuda/*.c "$root/src/device/sim.c" \
		"$root/src/device/space.c" "$root/src/base/map.c" \
		"$root/src/base/mem.c"
}

ready() {
	echo "ready: gpupool replay TRACE --engine $out/$1.so"
}

make_rmm() {
	fetch 'nvidia-cuda-runtime-cu12==12.9.*' 'rapids-logger==0.2.*' \
		"${wheel:-librmm-cu12==25.12.*}"
	build_runtime 12
	libraries=$tree/librmm/lib64:$tree/rapids_logger/lib64
	rmm() {
		build "$@" -isystem "$tree/librmm/include" \
			-isystem "$tree/librmm/include/rapids" \
			-isystem "$tree/nvidia/cuda_runtime/include" \
			-isystem "$tree/rapids_logger/include" -I"$root/src" \
			-DLIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE \
			-L"$out" -lgpupool-runtime -L"$tree/librmm/lib64" \
			-lrmm -L"$tree/rapids_logger/lib64" -lrapids_logger \
			"-Wl,-rpath,\$ORIGIN:$libraries"
	}
	rmm librmm-engines.so rmm.cc -shared
	rmm rmm-replay rmm_replay.cc
	for kind in pool grow arena binning async; do
		# shellcheck disable=SC2086
		$cc -shared -fPIC -I"$root/include" \
			"-DRESOURCE=rmm_$kind" -o "$out/rmm-$kind.so" \
			"$root/scripts/engines/rmm_one.c" -Wl,--no-as-needed \
			-L"$out" -l:librmm-engines.so "-Wl,-rpath,\$ORIGIN"
		ready "rmm-$kind"
	done
}

make_tensorflow() {
	if [ -n "$wheel" ]; then
		unpack "$wheel"
	else
		fetch 'tensorflow-cpu==2.21.*'
	fi
	build tensorflow-bfc.so tensorflow_bfc.cc -shared \
		-isystem "$tree/tensorflow/include" -L"$tree/tensorflow" \
		-l:libtensorflow_framework.so.2 "-Wl,-rpath,$tree/tensorflow"
	ready tensorflow-bfc
}

# It looks for CUDA's libraries under these names.
make_jax() {
	driver=$out/jax-driver
	install 'jax==0.10.2' 'jaxlib==0.10.2' 'jax-cuda12-pjrt==0.10.2' \
		numpy ml_dtypes opt_einsum
	mkdir -p "$driver"
	for name in libcudart.so.12 libnvidia-ml.so.1 libcudnn.so.9; do
		ln -sf libcuda.so.1 "$driver/$name"
	done
	# shellcheck disable=SC2086
	$cc -std=c11 -O1 -fPIC -shared -o "$driver/libcuda.so.1" \
		"$root/scripts/engines/xla_driver.c"
	echo "ready: PYTHONPATH=$tree LD_LIBRARY_PATH=$driver python3"
}

make_cupy() {
	install 'cupy-cuda12x==13.6.*' fastrlock numpy
	echo "ready: PYTHONPATH=$tree python3"
}

"make_$which"
