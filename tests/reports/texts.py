# SPDX-License-Identifier: MIT
"""Text reports, compared with the JSON reports."""

import re

COMMANDS = "explain", "headroom", "replay", "sweep", "floor"
NOUNS = (
    "requests|blocks|segments|events|steps|frees|calls|pieces|settings|OOMs|"
    "replays|devices|streams|pools|allocations|retries|pages"
)
ONE = NOUNS.replace("pages", "page").replace("retries", "retry")
ONE = re.sub(r"s(?=\||$)", "", ONE)
# One of several, several of one, and zero of what is counted.
MISTAKES = (
    rf"(?<![\d.,])1 (?:other |more )?(?:{NOUNS})\b",
    rf"(?<![\d.,])(?:[2-9]|\d\d+) (?:other |more )?(?:{ONE})\b",
    r"(?<![\d.,])1 of them do ",
    r"(?<![\d.,])0 (?:of them|OOMs\b)",
    r"\bnan\b|18446744073709551615",
)


def text_of(held, command):
    """The text with each sentence in one line."""
    return re.sub(r"\n? +", " ", held.text(command))


def hold_words(held):
    for command in COMMANDS:
        text = text_of(held, command)
        for mistake in MISTAKES:
            found = re.search(rf".{{0,40}}(?:{mistake}).{{0,40}}", text)
            held.is_as(f"words of {command}", found and found[0], None)


def said_count(text, what):
    found = re.search(rf"(\d+) other settings? {what}", text)
    return int(found[1]) if found else 0


def hold_useless(held):
    """Settings that are only counted, by their outcomes."""
    program = held.program
    told = held.report("explain", held.path, *program.options())
    if told["devices"][0]["verdict"]["kind"] == "undecided":
        return
    text = text_of(held, "explain")
    advised = told["devices"][0]["verdict"]["alloc_conf"]
    as_it_is, *others = told["tried"]
    ooms = lower = 0
    for trial in others:
        if trial["refusal"] or trial["alloc_conf"] == advised:
            continue
        ooms += trial["num_ooms"] > 0
        lower += (
            trial["num_ooms"] == 0
            and as_it_is["num_ooms"] == 0
            and trial["peak_reserved_bytes"] >= as_it_is["peak_reserved_bytes"]
        )
    held.is_as("out of memory", said_count(text, "that runs? out"), ooms)
    if "to others" not in text:
        said = said_count(text, "with no lower peak")
        held.is_as("no lower peak", said, lower)


HOLDS = hold_words, hold_useless
