#!/bin/bash
# SPDX-License-Identifier: MIT
# action.yml, played as a runner of GitHub does with a runner's variables set by
# hand, and examples/gitlab-ci.yml, whose scripts are run the same way.  gh is a
# stand-in here, which notes how it is called.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
gpupool=${BUILD:-$root/build}/gpupool
part=action
. "$root/tests/script.inc"

# The first one with yaml: Debian's own Python may have it if another one comes
# first.
find_python() {
	for python in python3 /usr/bin/python3; do
		"$python" -c 'import yaml' 2> /dev/null && return 0
	done
	return 1
}

find_python || skip_all "python3 has no yaml (scripts/packages.sh python)" \
	kept worse summary annotated line outputs quiet-fail error injection \
	comment comment-again comment-of-others no-pull-request long-comment \
	junit wheel gitlab schema schema-gitlab

# ---- a repository with a trace that got worse ----

mkdir "$work/bin" "$work/repo" "$work/temp" "$work/repo/model"
ln -s "$gpupool" "$work/bin/gpupool"
cat > "$work/bin/python3" <<END
#!/bin/sh
exec $(command -v "$python") "\$@"
END
cat > "$work/bin/gh" <<'END'
#!/bin/sh
printf '%s\n' "$*" >> "$GH_LOG"
[ -n "$GH_TOKEN" ] || exit 4
case $* in
*graphql*) [ -n "$GH_LOGIN" ] && echo "$GH_LOGIN" ;;
*--paginate*) cat "$GH_COMMENTS" ;;
esac
END
chmod +x "$work/bin/gh" "$work/bin/python3"
export PATH="$work/bin:$PATH" GH_LOG="$work/gh.log" \
	GH_COMMENTS="$work/comments" GH_LOGIN='' RUNNER_TEMP="$work/temp" \
	GITHUB_WORKSPACE="$work/repo" GITHUB_STEP_SUMMARY="$work/summary" \
	GITHUB_REPOSITORY=owner/name GITHUB_REF=refs/pull/12/merge
unset GITHUB_PATH GITHUB_OUTPUT GH_TOKEN
: > "$GH_COMMENTS"

trace() {
	printf '{"format":"gpupool-trace","version":1,'
	printf '"sites":["/srv/model/train.py:42 forward"],'
	printf '"devices":[{"device":0}]}\n'
	for ((i = 0; i < $1; i++)); do
		printf '{"op":"alloc","id":%d,"size":3145728,"site":0}\n' "$i"
	done
}

touch "$work/repo/model/train.py"
echo '{"runs": [{"name": "train", "trace": "t.jsonl"}]}' \
	> "$work/repo/gpupool.json"
trace 20 > "$work/repo/t.jsonl"
(cd "$work/repo" && gpupool check --quiet --update)

# play INPUT=VALUE...: its exit status is in $code, its output in out.
play() {
	: > "$GITHUB_STEP_SUMMARY"
	: > "$GH_LOG"
	(cd / && python3 "$root/tests/action/play.py" "$root/action.yml" \
		"$@") > "$work/out" 2> "$work/err"
	code=$?
}

# says FILE TEXT
says() {
	grep -qF -- "$2" "$work/$1" && return
	echo "$1 has no: $2; it has: $(head -c 300 "$work/$1" | tr '\n' ' ')"
	return 1
}

play
ok kept test "$code" -eq 0
trace 60 > "$work/repo/t.jsonl"
play
ok worse test "$code" -eq 1
ok summary says summary '| worse | `train` | `peak_reserved_bytes` |'
ok annotated says out '::error file=model/train.py,line=42,title=gpupool'
ok line says summary 'model/train.py:42'
ok outputs says out status=worse

quiet_fail() {
	play fail=false annotations=false summary=false
	[ "$code" -eq 0 ] || { echo "exit $code"; return 1; }
	[ ! -s "$GITHUB_STEP_SUMMARY" ] || { echo "a summary"; return 1; }
	! grep -q '^::' "$work/out" || { echo "an annotation"; return 1; }
	[ ! -s "$GH_LOG" ] || { echo "gh was called"; return 1; }
	says out status=worse
}
ok quiet-fail quiet_fail

error() {
	play files=none.json fail=false
	[ "$code" -eq 3 ] || { echo "exit $code"; return 1; }
	says out status=error && says summary 'none.json'
}
ok error error

# Texts that would have an effect if they ever became part of a script.
injection() {
	for text in '$(touch '"$work"'/owned)' '`touch '"$work"'/owned`' \
		'"; touch '"$work"'/owned; "' '-o'"$work"'/owned' \
		'--output='"$work"'/owned'; do
		for input in files junit summary fail comment; do
			[ "$input$text" != "junit-o$work/owned" ] || continue
			(cd "$work" && play "$input=$text")
		done
	done
	[ ! -e "$work/owned" ] || { echo "a text was run"; return 1; }
}
ok injection injection

comment() {
	play comment=true
	says gh.log 'api --silent --method POST repos/owner/name/issues/12/comments' &&
		grep -q '^<!-- gpupool check -->' "$work/temp/gpupool-comment.md"
}
ok comment comment
comment_again() {
	mark='<!-- gpupool check -->'
	printf '%s\t%s\t%s\n' 1 someone "$mark" \
		2 'github-actions[bot]' '<!-- other check -->' \
		4711 'github-actions[bot]' "$mark" 4712 an-app "$mark" \
		> "$GH_COMMENTS"
	play comment=true
	says gh.log '--method PATCH repos/owner/name/issues/comments/4711' ||
		return
	GH_LOGIN=an-app play comment=true
	says gh.log '--method PATCH repos/owner/name/issues/comments/4712'
}
# Another author's comment with the mark is not changed.
comment_of_others() {
	printf '%s\t%s\t%s\n' 1 someone '<!-- gpupool check -->' \
		> "$GH_COMMENTS"
	play comment=true
	says gh.log '--method POST repos/owner/name/issues/12/comments'
}
ok comment-again comment_again
ok comment-of-others comment_of_others
no_pull_request() {
	GITHUB_REF=refs/heads/main play comment=true
	[ ! -s "$GH_LOG" ] || { echo "gh was called"; return 1; }
	says out 'There is no pull request'
}
ok no-pull-request no_pull_request

# GitHub allows 65,536 characters.
long_comment() {
	python3 - "$work/repo/long.json" <<-'END'
		import json, sys
		runs = [{"name": f"train {i} {'x' * 60}", "trace": "t.jsonl"}
		        for i in range(300)]
		json.dump({"runs": runs}, open(sys.argv[1], "w"))
	END
	trace 20 > "$work/repo/t.jsonl"
	(cd "$work/repo" && gpupool check --quiet --update long.json)
	trace 60 > "$work/repo/t.jsonl"
	play comment=true files=long.json
	[ "$(wc -c < "$work/temp/gpupool-comment.md")" -lt 65536 ] ||
		{ echo "it is too long"; return 1; }
	grep -q 'GPU memory: 300 of 300' "$work/temp/gpupool-comment.md"
}
ok long-comment long_comment

junit() {
	play junit="$work/junit.xml" || return
	python3 - "$work/junit.xml" <<-'END'
		import sys, xml.etree.ElementTree as tree
		root = tree.parse(sys.argv[1]).getroot()
		(suite,) = root.findall("testsuite")
		cases = suite.findall("testcase")
		assert len(cases) == int(suite.get("tests")), suite.attrib
		assert all(c.get("name") and c.get("classname") for c in cases)
		for kind, count in (("failure", 2), ("error", 0)):
		    assert len(root.findall(f"testsuite/testcase/{kind}")) == count
		    assert int(suite.get(f"{kind}s")) == count, suite.attrib
	END
}
ok junit junit

# A failure of pip is reported, and nothing is checked.
wheel() {
	play wheel='$(touch "$work/owned")/none.whl'
	[ "$code" -ne 0 ] || { echo "exit 0"; return 1; }
	says out '::error title=gpupool::it could not be installed' &&
		[ ! -e "$work/owned" ]
}
ok wheel wheel

# The job's own scripts, with the gpupool of this build.
gitlab() {
	python3 - "$root/examples/gitlab-ci.yml" > "$work/job.sh" <<-'END'
		import sys, yaml
		job = yaml.safe_load(open(sys.argv[1]))["gpu-memory"]
		print("set -e\n" + "\n".join(job["script"]))
	END
	(cd "$work/repo" && bash "$work/job.sh") > "$work/out" 2>&1
	[ $? -eq 1 ] || { echo "it did not fail"; return 1; }
	python3 - "$root/examples/gitlab-ci.yml" "$work/repo" <<-'END'
		import json, sys, xml.etree.ElementTree as tree, yaml
		job = yaml.safe_load(open(sys.argv[1]))["gpu-memory"]
		reports = job["artifacts"]["reports"]
		tree.parse(f"{sys.argv[2]}/{reports['junit']}")
		found = json.load(open(f"{sys.argv[2]}/{reports['codequality']}"))
		keys = {"description", "check_name", "fingerprint", "severity",
		        "location"}
		assert len(found) == 2, found
		assert all(set(one) == keys for one in found), found
		assert len({one["fingerprint"] for one in found}) == 2, found
		assert {one["severity"] for one in found} <= {
		    "info", "minor", "major", "critical", "blocker"}, found
		assert found[0]["location"] == {
		    "path": "model/train.py", "lines": {"begin": 42}}
		assert job["artifacts"]["when"] == "always"
	END
}
ok gitlab gitlab

# By the schemas that editors use.
if command -v check-jsonschema > /dev/null; then
	ok schema check-jsonschema --builtin-schema vendor.github-actions \
		"$root/action.yml"
	ok schema-gitlab check-jsonschema --builtin-schema vendor.gitlab-ci \
		--data-transform gitlab-ci "$root/examples/gitlab-ci.yml"
else
	for test in schema schema-gitlab; do
		echo "skip action-$test: check-jsonschema is not on this" \
			"machine (pip install check-jsonschema)"
	done
fi

exit "$failed"
