# SPDX-License-Identifier: MIT
"""Several commands are asked the same question: they have one verdict and one
sentence, in text and on pages, which follow from their numbers."""

import html
import re
import subprocess

COMMANDS = "look", "explain", "suggest", "headroom", "sweep"


def options_of(held):
    """The settings are those of the trace: suggest starts from them, and those
    given to sweep are its grid."""
    return (
        "--torch", held.program.torch(),
        "--capacity", str(held.program.capacity),
    )  # fmt: skip


def words_of(held, command, *more):
    """The text in one line, without a page's tags."""
    text = subprocess.run(
        [held.gpupool, command, held.path, *options_of(held), *more],
        capture_output=True, text=True, check=False).stdout  # fmt: skip
    if more:
        text = html.unescape(re.sub("<[^>]*>", "", text))
    return re.sub(r"\s+", " ", text)


def verdict_of(held, command):
    told = held.report(command, held.path, *options_of(held))
    return told["devices"][0]["verdict"]


def hold_one_verdict(held):
    verdict = verdict_of(held, "explain")
    sentence = words_of(held, "look").split(". ")[0]
    for command in COMMANDS:
        held.is_as(f"verdict of {command}", verdict_of(held, command), verdict)
        said = sentence in words_of(held, command)
        held.is_as(f"{command} says: {sentence}", said, True)
    for command in "explain", "sweep":
        said = sentence in words_of(held, command, "--format", "html")
        held.is_as(f"the page of {command} says: {sentence}", said, True)


def hold_numbers(held):
    """The texts of a verdict, from each command."""
    verdict = verdict_of(held, "explain")
    kind, capacity = verdict["kind"], verdict["capacity"]
    held.is_as("capacity", capacity, held.program.capacity)
    if kind == "undecided":
        return
    need = verdict["need"]
    lacks = kind in ("too-small", "no-setting")
    missing = max(0, need - capacity) if lacks else 0
    held.is_as("missing", verdict["missing"], missing)
    spare = 0 if lacks else max(0, capacity - need)
    held.is_as("spare", verdict["spare"], spare)
    held.is_as("begins", verdict["begins"], "whole")
    live = verdict["live"] + verdict.get("others", 0)
    held.is_as("too small", kind == "too-small", live > capacity)


HOLDS = hold_one_verdict, hold_numbers
