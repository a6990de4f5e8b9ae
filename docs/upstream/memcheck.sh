#!/bin/sh
# SPDX-License-Identifier: MIT
# PyTorch's own allocator under valgrind, with a trace:
#
#	docs/upstream/memcheck.sh build/torch/2.11.0 TRACE [OPTION...]
#
# prints which functions read or write freed memory.  The options are those of
# gpupool replay; GPUPOOL is the program, build/gpupool unless given.
set -eu

if [ $# -lt 2 ]; then
	echo "usage: memcheck.sh ENGINE TRACE [OPTION...]" >&2
	exit 2
fi
command -v valgrind > /dev/null || {
	echo "memcheck.sh: valgrind is missing; on Debian: apt-get install valgrind" >&2
	exit 1
}
engine=$(cd "$1" && pwd)
trace=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# The same folder, except for the program that drives the allocator.
for file in "$engine"/*; do
	ln -s "$file" "$work/${file##*/}"
done
rm "$work/gpupool-torch"
cat > "$work/gpupool-torch" << END
#!/bin/sh
exec valgrind --log-file="$work/log" "$engine/gpupool-torch" "\$@"
END
chmod +x "$work/gpupool-torch"
"${GPUPOOL:-build/gpupool}" replay "$trace" -q --engine torch \
	--torch-lib "$work" "$@" > /dev/null
grep -A 1 'Invalid' "$work/log" |
	sed -n 's/^[=0-9]* *at 0x[0-9A-F]*: \([^(]*\).*/\1/p' | sort | uniq -c
grep 'ERROR SUMMARY' "$work/log" | sed 's/^[=0-9]* //'
