#!/bin/sh
# SPDX-License-Identifier: MIT
# gpupool mcp: by a plain script, and by the package mcp of PyPI, which is
# fetched into build/mcp once.  MCP_PYTHON names a Python that has it.
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${BUILD:-$root/build}
python=${MCP_PYTHON-}

if ! command -v python3 > /dev/null; then
	echo "skip mcp: python3 is not on this machine"
	exit 0
fi

fetch() {
	venv=$root/build/mcp/venv
	[ -e "$venv/complete" ] && return
	rm -rf "$venv"
	mkdir -p "$root/build/mcp"
	python3 -m venv "$venv" &&
		timeout 120 "$venv/bin/python" -m pip install --quiet \
			--disable-pip-version-check 'mcp>=2,<3' &&
		touch "$venv/complete"
}

failed=0
python3 "$here/plain.py" "$build/gpupool" "$root/traces" || failed=1

if [ -z "$python" ] && fetch > /dev/null 2>&1; then
	python=$root/build/mcp/venv/bin/python
fi
if [ -n "$python" ]; then
	"$python" "$here/client.py" "$build/gpupool" \
		"$root/traces/recorded/fsdp-rank0-of-64.default.pickle.gz" ||
		failed=1
else
	for mode in auto legacy; do
		echo "skip mcp-client-$mode: the package mcp of PyPI is not" \
			"here, and pip could not fetch it"
	done
fi
exit "$failed"
