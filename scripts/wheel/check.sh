#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs wheels as strangers would and tries them:
#
#	scripts/wheel/check.sh [PLATFORM...]
#
# Each wheel of build/wheel goes into a fresh environment, in a folder whose
# name has blanks and other letters, with no compiler on PATH.  What is not of
# this processor runs under qemu's user mode, where that is installed; of
# musllinux only the program is tried, with the loader that MUSL_LOADER names,
# else the system's, else, for another processor, Debian's, which apt fetches.
#
#	PYTHONS		pythons to install into; else python3
#	TORCH_PYTHON	one that has PyTorch, for gpupool record; else that of
#			build/record, which make record-test fetches
#	UVX		uv's command that runs programs out of wheels; else that
#			on PATH
#	AUDITWHEEL	says whether the wheel is what its name says; else that
#			on PATH
set -u

cd "$(dirname "$0")/../.." || exit 1
root=$(pwd)
out=$root/build/wheel
trace=$root/traces/stories/service-drifts-by-night.jsonl
torch=${TORCH_PYTHON:-$root/build/record/venv-${TORCH:-2.15.0}/bin/python}
auditwheel=${AUDITWHEEL:-$(command -v auditwheel)}
uvx=${UVX:-$(command -v uvx)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
failed=0

# try NAME COMMAND...
try() {
	name=$1
	shift
	if "$@" > "$work/out" 2>&1; then
		echo "ok $name"
	else
		echo "FAIL $name: $(tail -n 1 "$work/out")"
		failed=1
	fi
}

says() {
	wanted=$1
	shift
	"$@" > "$work/said" 2>&1 && grep -q -e "$wanted" "$work/said" || {
		cat "$work/said"
		return 1
	}
}

# auditwheel names the oldest system for which a wheel works.
is_what_it_says() {
	"$auditwheel" show "$1" > "$work/shown" 2>&1 || return 1
	tr -d '\n' < "$work/shown" | grep -q "tag: *\"$2\"" || {
		tail -n 3 "$work/shown"
		return 1
	}
}

# On a system with another C library, auditwheel takes that for musl's.
needs_musl() {
	rm -rf "$work/needs"
	python3 -m zipfile -e "$1" "$work/needs"
	find "$work/needs/gpupool/_native/bin" "$work/needs/gpupool/_native/lib" \
		-type f -exec readelf -d {} + > "$work/read" 2>&1 || return 1
	grep -q 'NEEDED.*\[libc\.so\]' "$work/read" &&
		! grep 'NEEDED' "$work/read" | grep -v '\[libc\.so\]'
}

# Without a compiler, and with no programs but the smallest system's.
bare() {
	env -i "PATH=$work/bin" "HOME=$work/home" LC_ALL=C.UTF-8 "$@"
}

# try_in PYTHON WHEEL
try_in() {
	place="$work/a place ÄÖ/$("$1" -c 'import sys
print("%d.%d" % sys.version_info[:2])')"
	mkdir -p "$place"
	try "$3: a fresh environment" "$1" -m venv "$place/venv"
	own=$place/venv/bin
	try "$3: pip installs it" "$own/python" -m pip install -q --no-index \
		--no-deps "$2"
	try "$3: gpupool" says expandable_segments bare "$own/gpupool" "$trace"
	try "$3: python -m gpupool" says 0.1 bare "$own/python" -m gpupool \
		version
	try "$3: suggest" says expandable_segments bare "$own/gpupool" \
		suggest "$trace"
	try "$3: a page" says '<html' bare "$own/gpupool" replay \
		--format html "$trace"
	try "$3: import gpupool" says expandable_segments:True bare \
		"$own/python" -c "import gpupool, sys
t = gpupool.load(sys.argv[1])
print(t.suggest().devices[0].verdict.alloc_conf, t.page()[:1])" "$trace"
	try_uvx "$1" "$2" "$3"
	if [ -x "$torch" ]; then
		try "$3: record" recorded "$own/gpupool"
	else
		echo "skip $3: record: there is no PyTorch: $torch"
	fi
}

try_uvx() {
	if [ -z "$uvx" ]; then
		echo "skip $3: uvx is not here (pip install uv)"
		return
	fi
	try "$3: uvx gpupool" says expandable_segments env \
		UV_CACHE_DIR="$work/uv" "$uvx" --offline --python "$1" \
		--from "$2" gpupool "$trace"
}

recorded() {
	says '1 allocation;' bare "$1" record -o "$work/recorded.json" -- \
		"$torch" -c 'import torch; x = torch.ones(9, device="cuda")' &&
		says Fidelity bare "$1" "$work/recorded.json"
}

# The part of a wheel that runs without an interpreter of its own.
try_program() {
	rm -rf "$work/unpacked"
	mkdir -p "$work/unpacked"
	try "$3: unpacks" python3 -m zipfile -e "$2" "$work/unpacked"
	program=$work/unpacked/gpupool/_native/bin/gpupool
	chmod +x "$program"
	# The loader's command is a list.
	# shellcheck disable=SC2086
	try "$3: gpupool" says expandable_segments $1 "$program" "$trace"
}

try_platform() {
	wheel=$(find "$out" -maxdepth 1 -name "*-$2.whl" | head -n 1)
	if [ -z "$wheel" ]; then
		echo "skip $1: make wheel PLATFORMS=$1 builds it"
		return
	fi
	case $1 in
	musllinux_*) try "$1: needs libc.so alone" needs_musl "$wheel" ;;
	*)
		if [ -n "$auditwheel" ]; then
			try "$1: auditwheel says so" is_what_it_says "$wheel" \
				"$2"
		else
			echo "skip $1: auditwheel is not here (pip install" \
				"auditwheel)"
		fi
		;;
	esac
	case $1 in
	"manylinux_$(uname -m)")
		for python in ${PYTHONS:-python3}; do
			try_in "$python" "$wheel" "$1 $("$python" -c 'import sys
print("%d.%d" % sys.version_info[:2])')"
		done
		;;
	manylinux_*)
		foreign "$1" "$wheel" "${1#*linux_}"
		;;
	*) musl "$1" "$wheel" "${1#*linux_}" ;;
	esac
}

foreign() {
	system=${SYSROOT:-/usr/$3-linux-gnu}
	if ! command -v "qemu-$3" > /dev/null; then
		echo "skip $1: qemu-$3 is not here (apt-get install qemu-user)"
	elif ! [ -e "$system/lib" ]; then
		echo "skip $1: the C library of $3 is not here (apt-get install" \
			"libc6-$(debian_name "$3")-cross)"
	else
		try_program "qemu-$3 -L $system" "$2" "$1"
	fi
}

debian_name() {
	case $1 in
	aarch64) echo arm64 ;;
	x86_64) echo amd64 ;;
	esac
}

# Debian's package for another processor, in addition to the machine's own.
fetch_musl() {
	arch=$(debian_name "$1")
	mkdir -p "$work/apt/lists/partial" "$work/musl" && cd "$work/apt" &&
		set -- -qq -o APT::Architecture="$arch" \
			-o APT::Architectures::="$arch" \
			-o Dir::State::lists="$work/apt/lists" \
			-o APT::Sandbox::User=root &&
		apt-get "$@" update && apt-get "$@" download musl &&
		dpkg-deb -x musl_*.deb "$work/musl"
}

musl() {
	loader=${MUSL_LOADER:-/lib/ld-musl-$3.so.1}
	if [ "$3" = "$(uname -m)" ]; then
		if [ -e "$loader" ]; then
			try_program "$loader" "$2" "$1"
		else
			echo "skip $1: $loader is not here (apt-get install" \
				"musl)"
		fi
	elif ! command -v "qemu-$3" > /dev/null; then
		echo "skip $1: qemu-$3 is not here (apt-get install qemu-user)"
	elif [ -e "$loader" ]; then
		try_program "qemu-$3 $loader" "$2" "$1"
	elif (fetch_musl "$3") > "$work/apt.log" 2>&1; then
		try_program "qemu-$3 $work/musl$loader" "$2" "$1"
	else
		echo "skip $1: $loader is not here, and apt could not fetch" \
			"musl: $(tail -n 1 "$work/apt.log")"
	fi
}

mkdir -p "$work/bin" "$work/home"
for tool in sh env; do
	ln -s "$(command -v $tool)" "$work/bin/$tool"
done
[ $# -gt 0 ] || set -- manylinux_x86_64
for platform; do
	case $platform in
	manylinux_*) try_platform "$platform" "manylinux_2_17_${platform#*_}" ;;
	*) try_platform "$platform" "musllinux_1_2_${platform#*_}" ;;
	esac
done
exit "$failed"
