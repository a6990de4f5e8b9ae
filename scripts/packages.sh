#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what building, testing, linting or fuzzing needs and this machine
# lacks, on Debian and Ubuntu; says what is missing elsewhere.
#
#	scripts/packages.sh [--no-install] build|check|lint|fuzz|wasm|python|shells|browsers|processors|release|hosts|wheels...
#
# Whether something is there is found out by using it, so that a library put
# there by hand counts.  Nothing is asked of the network when nothing is
# missing.
set -eu

cc=${CC:-gcc}
install=yes
missing=
tmp=

clean_up() {
	[ -z "$tmp" ] || rm -rf "$tmp"
}
trap clean_up EXIT

# Adds packages to what is missing.
lacks() {
	for package; do
		case " $missing " in
		*" $package "*) ;;
		*) missing="${missing:+$missing }$package" ;;
		esac
	done
}

has_command() {
	command -v "$1" > /dev/null 2>&1
}

# Compiles and links "#include <HEADER>" with the given flags.
links() {
	header=$1
	shift
	[ -n "$tmp" ] || tmp=$(mktemp -d)
	printf '#include <%s>\nint main(void) { return 0; }\n' "$header" \
		> "$tmp/try.c"
	# $cc may hold flags of its own.
	# shellcheck disable=SC2086
	$cc -o "$tmp/try" "$tmp/try.c" "$@" > /dev/null 2>&1
}

can_fuzz() {
	[ -n "$tmp" ] || tmp=$(mktemp -d)
	cat > "$tmp/fuzz.c" <<- 'END'
		#include <stddef.h>
		int LLVMFuzzerTestOneInput(const unsigned char *, size_t);
		int LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
		{
			return n && !data;
		}
	END
	clang -fsanitize=fuzzer,address,undefined -o "$tmp/fuzz" \
		"$tmp/fuzz.c" > /dev/null 2>&1
}

need_build() {
	# ${cc%% *}: the command without its flags.
	has_command "${cc%% *}" && links stdio.h || lacks gcc libc6-dev
	links jansson.h -ljansson || lacks libjansson-dev
	links zlib.h -lz || lacks zlib1g-dev
	links zstd.h -lzstd || lacks libzstd-dev
}

need_check() {
	links check.h -lcheck_pic || links check.h -lcheck || lacks check
}

need_lint() {
	has_command clang || lacks clang
	has_command clang-format-14 || lacks clang-format-14
	has_command doxygen || lacks doxygen
	has_command mandoc || lacks mandoc
	has_command musl-gcc || lacks musl-tools
	has_command shellcheck || lacks shellcheck
	has_command tsc || lacks node-typescript
}

# A program for browsers, with clang's library for it.
can_wasm() {
	[ -n "$tmp" ] || tmp=$(mktemp -d)
	printf '#include <stdio.h>\nint main(void) { return 0; }\n' \
		> "$tmp/wasm.c"
	${WASM_CC:-clang} --target=wasm32-wasi -o "$tmp/wasm" "$tmp/wasm.c" \
		> /dev/null 2>&1
}

need_wasm() {
	can_wasm || lacks clang lld wasi-libc libclang-rt-dev-wasm32
}

# Browsers: one is enough, and pages are tested in each that is installed.
need_browsers() {
	has_command chromium || has_command google-chrome || lacks chromium
	has_command firefox-esr || has_command firefox || lacks firefox-esr
}

# Allocators of host programs, which are loaded as they are.
need_hosts() {
	[ -n "$tmp" ] || tmp=$(mktemp -d)
	for pair in libjemalloc.so.2:libjemalloc2 \
		libtcmalloc_minimal.so.4:libtcmalloc-minimal4 \
		libmimalloc.so.2:libmimalloc2.0; do
		: > "$tmp/said"
		# A separate program, because sh has a built-in true that loads
		# nothing.
		LD_PRELOAD=${pair%:*} env true 2> "$tmp/said"
		[ ! -s "$tmp/said" ] || lacks "${pair#*:}"
	done
}

# What scripts/wheel-engine.sh fetches, unpacks and builds with.
need_wheels() {
	cxx=${CXX:-g++}
	has_command "${cxx%% *}" || lacks g++
	has_command unzip || lacks unzip
	has_module pip || lacks python3 python3-pip
}

need_fuzz() {
	can_fuzz || lacks clang
}

# Debian's own Python gets it, even if another one comes first on PATH.
has_module() {
	for python in python3 /usr/bin/python3; do
		"$python" -c "import $1" 2> /dev/null && return
	done
	return 1
}

need_python() {
	has_module pytest || lacks python3 python3-pytest
	has_module yaml || lacks python3 python3-yaml
	has_module ensurepip || lacks python3-venv
	# For engines in Python.
	has_command python3-config || lacks python3-dev
}

# Shells whose completions are tested.
need_shells() {
	has_command bash || lacks bash
	has_command zsh || lacks zsh
	has_command fish || lacks fish
}

# Runs programs from wheels for other machines: make wheel-check.
need_processors() {
	has_command qemu-aarch64 || lacks qemu-user
	[ -e /usr/aarch64-linux-gnu/lib ] || lacks libc6-arm64-cross
	[ -e /lib/ld-musl-x86_64.so.1 ] || lacks musl
}

# What make release builds from the tree, and make release-check tests: packages
# of Debian's, in a minimal system, and wheels for other processors.
need_release() {
	need_wasm
	has_module yaml || lacks python3 python3-yaml
	has_command mandoc || lacks mandoc
	has_command dpkg-buildpackage || lacks dpkg-dev
	has_command dh || lacks debhelper
	has_command lintian || lacks lintian
	has_command mmdebstrap || lacks mmdebstrap
	has_command autopkgtest || lacks autopkgtest
	need_processors
	has_module venv || lacks python3-venv
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		env DEBIAN_FRONTEND=noninteractive "$@"
	else
		sudo -n env DEBIAN_FRONTEND=noninteractive "$@"
	fi
}

can_install() {
	[ "$install" = yes ] && has_command apt-get || return 1
	[ "$(id -u)" -eq 0 ] && return 0
	has_command sudo && sudo -n true 2> /dev/null
}

apt_install() {
	# It recommends clang's sanitizer runtimes.
	case " $missing " in
	*" clang "*) recommends= ;;
	*) recommends=--no-install-recommends ;;
	esac
	as_root apt-get update -qq || return 1
	# $missing is a list.
	# shellcheck disable=SC2086
	as_root apt-get install -y -qq $recommends $missing
}

look() {
	missing=
	for group; do
		"need_$group"
	done
}

if [ "${1-}" = --no-install ]; then
	install=no
	shift
fi
for group; do
	case $group in
	build | check | lint | fuzz | wasm | python | shells | browsers | \
		processors | release | hosts | wheels) ;;
	*)
		echo "packages.sh: no group is called $group" >&2
		exit 2
		;;
	esac
done

look "$@"
[ -n "$missing" ] || exit 0
if can_install; then
	echo "Installing: $missing"
	tmp=${tmp:-$(mktemp -d)}
	# Try once more, because mirrors sometimes fail.
	apt_install > "$tmp/log" 2>&1 || apt_install > "$tmp/log" 2>&1 || {
		tail -n 5 "$tmp/log" >&2
		echo "packages.sh: apt-get could not install them" >&2
	}
	look "$@"
	[ -n "$missing" ] || exit 0
fi
cat >&2 << END
Packages are missing: $missing
On Debian or Ubuntu, type:

	sudo apt-get install $missing

END
exit 1
