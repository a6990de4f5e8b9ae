#!/bin/sh
# SPDX-License-Identifier: MIT
# Manual pages pass mandoc without a message; there is one for each command,
# naming the flags that the command's --help names.
set -u

cd "$(dirname "$0")/../.." || exit 1
. tests/lint/common.inc
program=${BUILD:-build}/gpupool

if has_command mandoc; then
	for page in man/*.[1-9]; do
		mandoc -T lint -W warning "$page"
	done > "$work/said" 2>&1
	verdict mandoc "manual pages have mistakes"
else
	echo "skip mandoc: it is not on this machine"
fi

# What a reader sees: a macro that takes too much of its line shows as a
# quotation within a quotation, or as a flag "-of" in place of the word "of".
if has_command mandoc; then
	# The quotes are those of the pages.
	# shellcheck disable=SC1112
	for page in man/*.[1-9]; do
		mandoc -T utf8 -O width=900 "$page" | sed 's/.\x08//g' |
			grep -oE -e '“[^”]*“|‘[^’]*‘| --[a-z-]+ -[a-z]{2,}' |
			sed "s|^|$page: |"
	done > "$work/said" 2>&1
	verdict rendered "manual pages do not show what they say"
fi

flags_of_page() {
	sed -n 's/^\.It .*Fl -\([a-z][a-z0-9-]*\).*/--\1/p' "$1"
	# The names of the settings, which have their own page.
	if grep -q '^\.It Fl - Ns Ar setting' "$1"; then
		sed -n '/; flag:$/{n;s/\.Fl -/--/p;}' man/gpupool-settings.7
	fi
}

flags_of_help() {
	"$program" "$1" --help < /dev/null |
		grep -oE -e '--[a-z][a-z0-9-]*' | sort -u
}

for page in man/gpupool-*.1; do
	command=$(basename "$page" .1)
	command=${command#gpupool-}
	flags_of_page "$page" | sort -u > "$work/page"
	flags_of_help "$command" > "$work/help"
	diff "$work/page" "$work/help" | sed -n 's/^< /only in the page: /p
		s/^> /only in --help: /p' > "$work/said"
	verdict "flags-$command" "$page and gpupool $command --help differ"
done
exit "$failed"
