#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plays action.yml as a runner does: play.py ACTION.YML [INPUT=VALUE]...

Each step runs in a shell with its env, in which ${{ inputs.NAME }} and a few
others are replaced; a ${{ in a script is refused, as its text would become part
of the script.  Outputs of the action are printed as NAME=VALUE.
"""
import os
import re
import subprocess
import sys

import yaml

EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
SHELLS = {"bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"]}


def fill(text, values):
    return EXPRESSION.sub(lambda match: values[match.group(1)], str(text))


def read_assignments(path):
    with open(path, encoding="utf-8") as file:
        return dict(line.rstrip("\n").split("=", 1) for line in file)


def play_step(step, values, folder):
    script = step["run"]
    if "${{" in script:
        sys.exit(f"a script has an expression in it: {script}")
    files = {
        name: os.path.join(folder, name)
        for name in ("GITHUB_OUTPUT", "GITHUB_PATH")
    }
    for path in files.values():
        open(path, "w", encoding="utf-8").close()
    env = dict(os.environ, **files)
    for name, text in step.get("env", {}).items():
        env[name] = fill(text, values)
    path = os.path.join(folder, "script.sh")
    with open(path, "w", encoding="utf-8") as file:
        file.write(script)
    code = subprocess.call(SHELLS[step["shell"]] + [path], env=env)
    with open(files["GITHUB_PATH"], encoding="utf-8") as file:
        for line in file:
            os.environ["PATH"] = line.strip() + ":" + os.environ["PATH"]
    for name, value in read_assignments(files["GITHUB_OUTPUT"]).items():
        values[f"steps.{step['id']}.outputs.{name}"] = value
    return code


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        action = yaml.safe_load(file)
    given = dict(word.split("=", 1) for word in sys.argv[2:])
    values = {
        "github.action_path": os.path.dirname(os.path.abspath(sys.argv[1])),
        "github.token": "a-token",
    }
    for name, about in action["inputs"].items():
        text = given.pop(name, fill(about["default"], values))
        values[f"inputs.{name}"] = text
    if given:
        sys.exit(f"action.yml has no input {', '.join(given)}")
    code = 0
    for step in action["runs"]["steps"]:
        code = code or play_step(step, values, os.environ["RUNNER_TEMP"])
    for name, about in action["outputs"].items():
        key = EXPRESSION.match(about["value"]).group(1)
        print(f"{name}={values.get(key, '')}")
    return code


if __name__ == "__main__":
    sys.exit(main())
