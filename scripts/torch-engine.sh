#!/bin/sh
# SPDX-License-Identifier: MIT
# Prepares PyTorch's own allocator as an engine for gpupool:
#
#	scripts/torch-engine.sh OUT SOURCE [RELEASE]
#
# SOURCE is a release such as 2.15.0 (its wheel is fetched with pip), a wheel
# file, or a folder that holds torch/lib and torch/include: an unpacked wheel,
# or site-packages.  RELEASE is needed only where the folder does not tell it.
#
# What OUT then holds: libc10.so and libc10_cuda.so out of the wheel; the CUDA
# runtime without a device that they run on (src/simcuda), as libcudart.so.N,
# libcuda.so.1 and libnvidia-ml.so.1; gpupool-torch, which drives the allocator;
# cuda/, the same for NVIDIA's own runtime and a device; and a file "release".
# Nothing of the CUDA toolkit is needed.
set -eu

if [ $# -lt 2 ]; then
	echo "usage: torch-engine.sh OUT SOURCE [RELEASE]" >&2
	exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
out=$1 source=$2 release=${3-}
cc=${CC:-gcc} cxx=${CXX:-g++}

work=
clean_up() {
	[ -z "$work" ] || rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

fail() {
	echo "torch-engine.sh: $1" >&2
	exit 1
}

for command in "${cc%% *}" "${cxx%% *}" readelf nm; do
	command -v "$command" > /dev/null ||
		fail "$command is missing; on Debian: apt-get install g++ binutils"
done

# Next to OUT, so that the last step is a rename.
mkdir -p "$(dirname "$out")"
work=$(mktemp -d "$(dirname "$out")/.torch-engine.XXXXXX")

# Only the two libraries and the headers that the shim includes.
unpack() {
	command -v unzip > /dev/null ||
		fail "unzip is missing; on Debian: apt-get install unzip"
	# Older wheels have no torch/headeronly: unzip answers 11.
	unzip -q -o "$1" 'torch/lib/libc10.so' 'torch/lib/libc10_cuda.so' \
		'torch/version.py' 'torch/include/c10/*' \
		'torch/include/torch/headeronly/*' -d "$work/wheel" \
		2> /dev/null || [ $? -eq 11 ] || fail "$1 cannot be unpacked"
	tree=$work/wheel
}

fetch() {
	mkdir "$work/download"
	python3 -m pip download --no-deps -q -d "$work/download" \
		"torch==$1" > "$work/log" 2>&1 || {
		tail -n 3 "$work/log" >&2
		fail "pip has no wheel of torch $1 for this machine's python3"
	}
	unpack "$work"/download/torch-*.whl
	rm -rf "$work/download"
}

case $source in
*.whl)
	[ -f "$source" ] || fail "there is no $source"
	unpack "$source"
	base=$(basename "$source")
	base=${base#torch-}
	release=${release:-${base%%[-+]*}}
	;;
*/* | .)
	[ -d "$source" ] || fail "there is no folder $source"
	tree=$(cd "$source" && pwd)
	[ "$(basename "$tree")" != torch ] || tree=$(dirname "$tree")
	;;
*)
	release=${release:-$source}
	fetch "$source"
	;;
esac
torch=$tree/torch
[ -e "$torch/lib/libc10_cuda.so" ] ||
	fail "$source has no torch/lib/libc10_cuda.so: is it a CUDA build?"
[ -d "$torch/include/c10" ] || fail "$source has no torch/include/c10"

if [ -z "$release" ] && [ -e "$torch/version.py" ]; then
	release=$(sed -n "s/^__version__ = '\([0-9.]*\).*/\1/p" \
		"$torch/version.py")
fi
# The folder of an unpacked wheel often has its release in its name.
if [ -z "$release" ]; then
	release=$(echo "$tree" | sed -n 's|.*/\(2\.[0-9][0-9.]*\)$|\1|p')
fi
case $release in
2.*) minor=${release#2.} minor=${minor%%.*} ;;
*) fail "$source does not tell its release; name it: OUT SOURCE 2.15.0" ;;
esac

cuda=$(readelf -d "$torch/lib/libc10_cuda.so" |
	sed -n 's/.*\[libcudart\.so\.\([0-9.]*\)\].*/\1/p')
[ -n "$cuda" ] || fail "libc10_cuda.so names no libcudart.so"
std=c++17
[ "$minor" -lt 12 ] || std=c++20
# The index's wheels switched to the C++11 strings in 2.7.
abi=0
! nm -D "$torch/lib/libc10.so" |
	grep -q '_ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx11' || abi=1

new=$work/new
mkdir "$new"
cp -L "$torch/lib/libc10.so" "$torch/lib/libc10_cuda.so" "$new"
cat > "$work/exports" << END
libcudart.so.$cuda {
global: cuda*; cu*; nvml*; simcuda_*;
local: *;
};
END

# On a device, only these are still simulated: the trace determines when work is
# complete.
cat > "$work/streams" << END
libcudart.so.$cuda {
global: cudaStream*; cudaEvent*; cudaGraph*; cudaThreadExchangeStreamCaptureMode;
	cudaDeviceSynchronize; simcuda_*;
local: *;
};
END

include="-I$root/include -I$root/src -I$root/src/simcuda/api"
flags="-O2 -fPIC -D_GNU_SOURCE -DSIMCUDA_MAJOR=${cuda%%.*} $include"
runtime="libcudart.so.$cuda"
# The flags are lists.
streams=libgpupool-streams.so
sources="$root/src/device/sim.c $root/src/device/space.c
	$root/src/base/map.c $root/src/base/mem.c"
# shellcheck disable=SC2086
$cc -std=c11 $flags -shared -pthread -Wl,-soname,"$runtime" \
	-Wl,--version-script="$work/exports" -o "$new/$runtime" \
	"$root"/src/simcuda/*.c $sources
mkdir "$new/cuda"
# shellcheck disable=SC2086
$cc -std=c11 $flags -shared -pthread -Wl,-soname,$streams -Wl,-Bsymbolic \
	-Wl,--version-script="$work/streams" -o "$new/cuda/$streams" \
	"$root"/src/simcuda/*.c $sources

# The runtime also has the functions of the driver and the management library;
# programs that ask for these by name find them through it.
for name in libcuda.so.1 libnvidia-ml.so.1; do
	echo | $cc -shared -xc -Wl,-soname,"$name" -o "$new/$name" - \
		-L"$new" -Wl,--no-as-needed -l:"$runtime" \
		"-Wl,-rpath,\$ORIGIN"
done

# shellcheck disable=SC2086
$cc -std=c11 $flags -c -o "$work/helper.o" \
	"$root/src/allocator/torch/helper.c"
# shellcheck disable=SC2086
$cc -std=c11 $flags -c -o "$work/mem.o" "$root/src/base/mem.c"
# A single unit, because PyTorch's headers take longer to compile than all of
# ours. They have warnings of their own.
for part in "$root"/src/allocator/torch/shim*.cc; do
	echo "#include \"$part\""
done > "$work/shim.cc"
# shellcheck disable=SC2086
$cxx -std=$std -w $flags -D_GLIBCXX_USE_CXX11_ABI=$abi \
	-DSHIM_RELEASE="$minor" -isystem "$torch/include" \
	-c -o "$work/shim.o" "$work/shim.cc"
# Ours first: a library that is already loaded is not searched for again.
$cxx -o "$new/gpupool-torch" "$work/shim.o" "$work/helper.o" "$work/mem.o" \
	-L"$new" -Wl,--no-as-needed -l:"$runtime" -l:libcuda.so.1 \
	-l:libnvidia-ml.so.1 -lc10_cuda -lc10 -ldl "-Wl,-rpath,\$ORIGIN" \
	-Wl,--disable-new-dtags -Wl,--allow-shlib-undefined
# The runtime is found as in every program, or is loaded first.
ln -s ../libc10.so ../libc10_cuda.so "$new/cuda"
$cxx -o "$new/cuda/gpupool-torch" "$work/shim.o" "$work/helper.o" \
	"$work/mem.o" -L"$new/cuda" -L"$new" -Wl,--no-as-needed -l:$streams \
	-l:"$runtime" -lc10_cuda -lc10 -ldl "-Wl,-rpath,\$ORIGIN" \
	-Wl,--enable-new-dtags -Wl,--allow-shlib-undefined
echo "$release" > "$new/release"

rm -rf "$out"
mv "$new" "$out"
echo "PyTorch $release is ready in $out"
