#!/bin/sh
# SPDX-License-Identifier: MIT
# fetch.sh RELEASE FOLDER: a Python environment with that PyTorch from PyPI and
# what it needs to be imported, without CUDA's libraries.
set -eu

release=$1 venv=$2
[ ! -e "$venv/complete" ] || exit 0
case $release in
2.[12].*) numpy='numpy<2' ;;
*) numpy=numpy ;;
esac
rm -rf "$venv"
mkdir -p "$(dirname "$venv")"
echo "fetching PyTorch $release"
python3 -m venv "$venv"
pip() {
	"$venv/bin/python" -m pip --quiet --disable-pip-version-check \
		install "$@"
}
pip --no-deps "torch==$release"
pip "$numpy" typing_extensions sympy networkx jinja2 fsspec filelock \
	setuptools 2> "$venv/pip.log" || {
	cat "$venv/pip.log" >&2
	exit 1
}
touch "$venv/complete"
