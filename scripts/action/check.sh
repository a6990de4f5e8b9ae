#!/bin/bash
# SPDX-License-Identifier: MIT
# The second step of action.yml: gpupool check, told where GitHub shows it.
# What was asked for is in GPUPOOL_*, which are texts and never part of a
# command.
set -u

work=${RUNNER_TEMP:-$(mktemp -d)}
report=$work/gpupool-check.md
cd "${GITHUB_WORKSPACE:-.}" || exit 1

is_on() {
	case $1 in
	true | True | TRUE) return 0 ;;
	*) return 1 ;;
	esac
}

# A name that begins with - is a file.
files=()
while IFS= read -r file; do
	case $file in
	'') continue ;;
	-*) file=./$file ;;
	esac
	files+=("$file")
done <<< "${GPUPOOL_FILES:-gpupool.json}"

check() {
	gpupool check --quiet --color never "$@" "${files[@]}"
}

output() {
	printf '%s=%s\n' "$1" "$2" >> "${GITHUB_OUTPUT:-/dev/null}"
}

# The single comment that later runs change is recognised by its author and its
# beginning.
mark='<!-- gpupool check -->'
most=60000

# GitHub allows 65,536 characters: a longer comment is written without the list
# of all limits, and if it is still too long, without any details.
write_comment() {
	echo "$mark"
	if [ "$(wc -c < "$report")" -le "$most" ]; then
		cat "$report"
		return
	fi
	sed '/^<details>/,/^<\/details>/d' "$report" > "$report.short"
	if [ "$(wc -c < "$report.short")" -le "$most" ]; then
		cat "$report.short"
	else
		head -n 1 "$report"
		echo
		echo "The report is too long for a comment: see the summary" \
			"of the job."
	fi
}

# The author of the token's comments; a workflow's own token may not ask for its
# user.
author() {
	gh api graphql -f query='query { viewer { login } }' \
		--jq .data.viewer.login 2> /dev/null ||
		echo 'github-actions[bot]'
}

# The number of the comment; empty if there is none. Others may write the mark,
# too.
find_comment() {
	me=$(author)
	gh api --paginate "$1" --jq ".[] | [.id, .user.login,
		.body[:${#mark}]] | @tsv" > "$work/gpupool-comments" || return 1
	while IFS=$'\t' read -r id login begin; do
		[ "$login" = "$me" ] && [ "$begin" = "$mark" ] || continue
		echo "$id"
		return
	done < "$work/gpupool-comments"
}

comment() {
	pull=${GITHUB_REF-}
	pull=${pull#refs/pull/}
	pull=${pull%%/*}
	case $pull in
	'' | *[!0-9]*)
		echo "There is no pull request to comment on."
		return
		;;
	esac
	write_comment > "$work/gpupool-comment.md"
	comments="repos/$GITHUB_REPOSITORY/issues/$pull/comments"
	old=$(find_comment "$comments") || return 1
	if [ -n "$old" ]; then
		gh api --silent --method PATCH \
			"repos/$GITHUB_REPOSITORY/issues/comments/$old" \
			-F "body=@$work/gpupool-comment.md"
	else
		gh api --silent --method POST "$comments" \
			-F "body=@$work/gpupool-comment.md"
	fi
}

format=text
is_on "${GPUPOOL_ANNOTATIONS:-true}" && format=github
check --format "$format"
code=$?
case $code in
0) status=ok ;;
1) status=worse ;;
*) status=error ;;
esac
output status "$status"

# Errors on the command line or in the files were printed above; there is no
# report.
rm -f "$report"
check --format markdown -o "$report" 2> "$work/gpupool-check.err" ||
	[ -s "$report" ] || {
	echo '### GPU memory: gpupool check could not judge it'
	echo
	echo '```text'
	sed 's/```/'"'''"'/g' "$work/gpupool-check.err"
	echo '```'
} > "$report"
output report "$report"

if is_on "${GPUPOOL_SUMMARY:-true}"; then
	cat "$report" >> "${GITHUB_STEP_SUMMARY:-/dev/null}"
fi
if [ -n "${GPUPOOL_JUNIT-}" ]; then
	check --format junit -o "$GPUPOOL_JUNIT" 2> /dev/null
fi
if is_on "${GPUPOOL_COMMENT:-false}" && ! comment; then
	echo "::warning title=gpupool::the pull request could not be" \
		"commented on"
fi

if [ "$status" = worse ] && ! is_on "${GPUPOOL_FAIL:-true}"; then
	exit 0
fi
exit "$code"
