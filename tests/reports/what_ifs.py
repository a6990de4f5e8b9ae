# SPDX-License-Identifier: MIT
"""What-ifs applied independently to the lines of a program: the model's result
for these must be the one that replay reports for the same flags."""

import random

from answers import said_numbers
from runs import MARK, outcome

SHARE = 0.5  # of the trace, for --preallocate


def op_of(line):
    return line.split()[0]


def id_of(line):
    """The block that a request, free or record_stream is about."""
    op, *words = line.split()
    return words[0] if op in ("a", "f", "r") else None


def ids_of(program, site):
    return {str(i) for i, name in program.site_of.items() if name == site}


def without(lines, is_gone):
    return [MARK if is_gone(line) else line for line in lines]


def without_site(program, site):
    ids = ids_of(program, site)
    return without(program.lines, lambda line: id_of(line) in ids)


def keep_site(program, site):
    ids = ids_of(program, site)
    return without(
        program.lines, lambda line: op_of(line) == "f" and id_of(line) in ids
    )


def free_earlier(program, site):
    """Frees each block after its last use."""
    ids = ids_of(program, site)
    lines = keep_site(program, site)
    last = {}
    for at, line in enumerate(lines):
        if op_of(line) in ("a", "r") and id_of(line) in ids:
            last[id_of(line)] = at
    for block, at in sorted(last.items(), key=lambda item: -item[1]):
        lines.insert(at + 1, f"f {block}")
    return lines


def round_sizes(program, _):
    lines = []
    for line in program.lines:
        op, *words = line.split()
        if op == "a":
            size = -(-int(words[1]) // 65536) * 65536
            line = f"a {words[0]} {size} {words[2]}"
        lines.append(line)
    return lines


def merge_streams(program, _):
    lines = []
    for line in program.lines:
        op, *words = line.split()
        if op == "a":
            line = f"a {words[0]} {words[1]} 0"
        elif op == "d":
            line = "d 0"
        lines.append(MARK if op == "r" else line)
    return lines


def no_delay(program, _):
    return without(program.lines, lambda line: op_of(line) == "r")


def no_private_pools(program, _):
    return without(
        program.lines,
        lambda line: op_of(line) in ("pb", "pe", "pr")
        or (op_of(line) == "e" and line != "e"),
    )


def no_empty_cache(program, _):
    return without(program.lines, lambda line: op_of(line) == "e")


def preallocate(program, _):
    """Blocks that live that long come first, the largest before all others, but
    after a memory fraction, others' memory and marks."""
    lines = list(program.lines)
    freed = {id_of(x): at for at, x in enumerate(lines) if op_of(x) == "f"}
    moved, pool = [], None
    for at, line in enumerate(lines):
        if op_of(line) in ("pb", "pe"):
            pool = op_of(line) == "pb"
        if op_of(line) != "a" or pool:
            continue
        life = freed.get(id_of(line), len(lines)) - at
        if life >= SHARE * len(lines):
            moved.append(line)
            lines[at] = MARK
    moved.sort(key=lambda line: -int(line.split()[2]))
    first = 0
    while op_of(program.lines[first]) in ("l", "o", MARK.split()[0]):
        first += 1
    return lines[:first] + moved + lines[first:]


def sort_step(program, _):
    """Sequences of requests, with the largest of each first."""
    lines, run = [], []
    for line in [*program.lines, MARK]:
        if op_of(line) == "a":
            run.append(line)
            continue
        run.sort(key=lambda request: -int(request.split()[2]))
        lines += [*run, line]
        run = []
    return lines[:-1]


def empty_cache_at(program, _):
    lines = []
    for line in program.lines:
        lines += ["e", line] if line == MARK else [line]
    return lines


WHAT_IFS = (
    ("--without-site", "SITE", without_site),
    ("--keep-site", "SITE", keep_site),
    ("--free-earlier", "SITE", free_earlier),
    ("--round-sizes", "64KiB", round_sizes),
    ("--merge-streams", None, merge_streams),
    ("--no-delay", None, no_delay),
    ("--no-private-pools", None, no_private_pools),
    ("--no-empty-cache", None, no_empty_cache),
    ("--preallocate", f"{SHARE:.0%}", preallocate),
    ("--sort-step", None, sort_step),
    ("--empty-cache-at", "step", empty_cache_at),
)


def hold_what_ifs(held):
    program = held.program
    dice = random.Random(len(held.moments))
    for flag, argument, change in dice.sample(WHAT_IFS, 5):
        site = dice.choice(sorted(set(program.site_of.values())))
        words = [flag]
        if argument:
            words.append(site if argument == "SITE" else argument)
        ran = outcome(
            held, program.capacity, lines=change(program, site)
        )
        if ran is None:
            continue
        told = held.report("replay", held.path, *words, *program.options())
        for run in told["runs"]:
            if "what_ifs" not in run:
                continue
            device = run["devices"][0]
            stats = device["memory_stats"]
            said = (
                device["measures"]["peak_reserved_bytes"],
                stats["num_alloc_retries"],
                stats["num_ooms"],
            )
            held.is_as(" ".join(words), said, ran.numbers())


def hold_attempts(held):
    """The ones that explain tried."""
    program = held.program
    told = held.report("explain", held.path, *program.options())
    changes = {flag: change for flag, _, change in WHAT_IFS}
    for attempt in told["devices"][0]["attempts"]:
        flag, _, argument = attempt["what_if"].partition(" ")
        if flag not in changes or "," in argument:
            continue
        lines = changes[flag](program, argument.strip("'\""))
        ran = outcome(held, program.capacity, lines=lines)
        if ran:
            held.is_as(attempt["what_if"], said_numbers(attempt), ran.numbers())


HOLDS = hold_what_ifs, hold_attempts
