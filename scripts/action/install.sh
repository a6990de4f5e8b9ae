#!/bin/sh
# SPDX-License-Identifier: MIT
# The first step of action.yml: puts gpupool on the PATH of the steps behind it.
# From $GPUPOOL_WHEEL with pip; else the one that is there; else it is built
# from the source of the action.
set -eu

action=$(cd "$(dirname "$0")/../.." && pwd)
path_file=${GITHUB_PATH:-/dev/null}

# Lines of a job's log may be workflow commands: the output of other programs is
# shown only after a failure, and in a form that cannot be one.
quietly() {
	log=$(mktemp)
	"$@" > "$log" 2>&1 || {
		echo "::error title=gpupool::it could not be installed"
		tail -n 20 "$log" | sed 's/::/: :/g; s/##\[/## [/g'
		exit 1
	}
}

if [ -n "${GPUPOOL_WHEEL-}" ]; then
	venv=${RUNNER_TEMP:-/tmp}/gpupool-venv
	quietly python3 -m venv "$venv"
	quietly "$venv/bin/python" -m pip install --quiet \
		--disable-pip-version-check -- "$GPUPOOL_WHEEL"
	echo "$venv/bin" >> "$path_file"
	gpupool=$venv/bin/gpupool
elif command -v gpupool > /dev/null; then
	gpupool=gpupool
else
	quietly "$action/scripts/packages.sh" build
	quietly make -C "$action" -j"$(nproc)" build/gpupool
	echo "$action/build" >> "$path_file"
	gpupool=$action/build/gpupool
fi
"$gpupool" --version
