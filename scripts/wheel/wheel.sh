#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds wheels of Python that run on any Linux of their kind:
#
#	scripts/wheel/wheel.sh [PLATFORM...]
#
# PLATFORM is manylinux_x86_64, which is built unless another is named,
# manylinux_aarch64, musllinux_x86_64 or musllinux_aarch64.  The wheels are put
# into build/wheel.
#
# The compiler is zig's, a package of PyPI's that has the C libraries of all
# systems as old as one likes: ZIG names its command, else the ziglang of
# PYTHON or python3, else one that is fetched into build/wheel/tools.
# SOURCE_DATE_EPOCH is the time in the wheel: that of the last commit unless
# set.
set -eu

cd "$(dirname "$0")/../.."
out=build/wheel
ziglang=0.17.1
jobs=${JOBS:-$(nproc 2> /dev/null || echo 2)}
python=${PYTHON:-python3}

fail() {
	echo "wheel.sh: $1" >&2
	exit 1
}

has_zig() {
	"$1" -m ziglang version > /dev/null 2>&1
}

find_zig() {
	[ -z "${ZIG-}" ] || return 0
	if has_zig "$python"; then
		ZIG="$python -m ziglang"
		return 0
	fi
	if ! has_zig $out/tools/bin/python; then
		{ "$python" -m venv $out/tools &&
			$out/tools/bin/pip install -q "ziglang==$ziglang"
		} > $out/tools.log 2>&1 || fail "there is no zig, and pip could \
not fetch it: see $out/tools.log, or name one in ZIG"
	fi
	ZIG="$PWD/$out/tools/bin/python -m ziglang"
}

# The names of the system in the wheel's tag and for zig.
name_platform() {
	processor=${1#*linux_}
	case $1 in
	manylinux_x86_64 | manylinux_aarch64)
		tag=manylinux_2_17_$processor
		target=$processor-linux-gnu.2.17
		;;
	musllinux_x86_64 | musllinux_aarch64)
		tag=musllinux_1_2_$processor
		target=$processor-linux-musl
		;;
	*) fail "there are no wheels for $1" ;;
	esac
}

compile() {
	libraries=$PWD/$out/$target
	# musl's programs are static by default, and then could load nothing.
	dynamic=
	[ "${target%-musl}" = "$target" ] || dynamic=-dynamic
	cc="$ZIG cc $dynamic -I$libraries/include -L$libraries/lib \
-target $target"
	[ -f "$libraries/lib/.made" ] || {
		CC="$cc" AR="$ZIG ar" JOBS=$jobs \
			scripts/wheel/libraries.sh $out/sources "$libraries" &&
			touch "$libraries/lib/.made"
	}
	built=build/$target
	# The folder of the variant is named after the last word of the
	# compiler.
	make -j"$jobs" CC="$cc" AR="$ZIG ar" CFLAGS="-O2 -g0" LDFLAGS=-s \
		SYMBOLIC=-Wl,-Bsymbolic \
		LIBS="-ljansson -lz -lzstd -lm -ldl -pthread" \
		"$built/gpupool" "$built/libgpupool.so.0" \
		"$built/simcuda/12/libgpupool-simcuda.so" \
		"$built/simcuda/13/libgpupool-simcuda.so"
}

# Where the program looks for them: the libraries in ../lib, the rest in
# ../share.
fill() {
	tree=$out/tree/$target
	rm -rf "$tree"
	mkdir -p "$tree"
	cp -R python/gpupool "$tree/gpupool"
	find "$tree" -name __pycache__ -prune -exec rm -r {} +
	native=$tree/gpupool/_native
	mkdir -p "$native/bin" "$native/lib/gpupool/simcuda" \
		"$native/share/gpupool"
	install -m 755 "$built/gpupool" "$native/bin/gpupool"
	install -m 755 "$built/libgpupool.so.0" "$native/lib/libgpupool.so.0"
	for cuda in 12 13; do
		mkdir "$native/lib/gpupool/simcuda/$cuda"
		install -m 755 "$built/simcuda/$cuda/libgpupool-simcuda.so" \
			"$native/lib/gpupool/simcuda/$cuda"
	done
	for library in jansson zlib zstd; do
		install -m 644 "$out/sources/$library/LICENSE" \
			"$native/share/gpupool/LICENSE-$library"
	done
	# What gpupool page puts into its pages, if make wasm has built it.
	[ ! -f build/gpupool.wasm.gz ] || install -m 644 build/gpupool.wasm.gz \
		"$native/share/gpupool/gpupool.wasm.gz"
}

version=$(sed -n 's/.*GP_VERSION "\(.*\)"/\1/p' include/gpupool/gpupool.h)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct \
	2> /dev/null || echo 0)}
export SOURCE_DATE_EPOCH
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL
mkdir -p $out
command -v "$python" > /dev/null || fail "Python is needed: $python"
find_zig
scripts/library-sources.sh $out/sources
[ $# -gt 0 ] || set -- manylinux_x86_64
for platform; do
	name_platform "$platform"
	compile > "$out/$platform.log" 2>&1 || {
		tail -n 30 "$out/$platform.log" >&2
		fail "$platform was not built: see $out/$platform.log"
	}
	fill
	"$python" scripts/wheel/pack.py --version "$version" \
		--tag "py3-none-$tag" --out $out "$tree"
done
