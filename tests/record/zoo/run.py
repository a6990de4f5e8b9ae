#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The zoo: recordings of short programs that use popular packages.

Each program is recorded with its known values, with everything computed, and,
if its path is unknown, with values drawn.  Recordings are kept, so a run that
was interrupted continues from there.  The table is printed, or written into
FILE between its two marks.
"""

import argparse
import ast
import datetime
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MODES = ("known", "all", "drawn:1")
ROWS = "rows.jsonl"
KNOWN = "all values known"
MARKS = ("<!-- the zoo's table -->\n", "<!-- its end -->\n")
VERSIONS = """import importlib.metadata as m, sys
for name in sys.argv[1:]:
    try:
        print(name, m.version(name))
    except m.PackageNotFoundError:
        pass"""
PACKAGES = (
    "torch transformers accelerate peft trl lightning diffusers timm "
    "torchvision torchao bitsandbytes deepspeed vllm sglang"
).split()
MISSING = """import importlib.util, sys
print(*(p for p in sys.argv[1:] if importlib.util.find_spec(p) is None))"""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", required=True, help="one that has PyTorch")
    parser.add_argument("--gpupool", default="build/gpupool")
    parser.add_argument("--kept", default="build/zoo", help="a folder")
    parser.add_argument("--only", default="", help="a regular expression")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--limit", type=int, default=600, help="seconds each")
    parser.add_argument("--write", metavar="FILE")
    parser.add_argument("--check", action="store_true", help="exit 1 if not")
    return parser.parse_args()


def programs(only):
    """Each line: [RANKS] NAME [ARGUMENT...]"""
    with open(os.path.join(HERE, "programs.txt"), encoding="utf-8") as lines:
        return [line.strip() for line in lines if re.search(only, line)]


def parts(line):
    words = line.split()
    ranks = int(words.pop(0)) if words[0].isdigit() else 1
    return ranks, os.path.join(HERE, words[0] + ".py"), words[1:]


def lacking(python, program):
    """Packages that it imports first and that are missing."""
    with open(program, encoding="utf-8") as source:
        tree = ast.parse(source.read())
    wanted = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            wanted |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            wanted.add(node.module.split(".")[0])
    said = subprocess.run(
        [python, "-c", MISSING, *sorted(wanted)], capture_output=True, text=True
    )
    return said.stdout.split()


def run(command, limit, **options):
    """Its status; None: it was ended because it took too long."""
    # In its own session, so that the processes it started end with it.
    with subprocess.Popen(
        command, start_new_session=True, **options
    ) as process:
        try:
            return process.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 15)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
            return None


def traces(gpupool, folder):
    found = []
    for name in sorted(glob.glob(os.path.join(folder, "t*.jsonl"))):
        said = subprocess.run(
            [gpupool, "info", "--format", "json", name], capture_output=True
        )
        if said.returncode == 0:
            found.append(json.loads(said.stdout))
    return found


def record(args, line, mode):
    ranks, program, words = parts(line)
    start = [args.python, program, *words]
    if ranks > 1:
        start[1:1] = [
            "-m",
            "torch.distributed.run",
            "--standalone",
            f"--nproc-per-node={ranks}",
        ]
    name = re.sub(r"\W", "-", f"{line} {mode}")
    log = os.path.join(args.kept, name)
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "t.jsonl")
        with open(log + ".out", "w+") as out, open(log + ".told", "w+") as told:
            status = run(
                [args.gpupool, "record", "--values", mode, "-o", trace]
                + ["--devices", str(ranks), "--", *start],
                args.limit,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=told,
            )
            out.seek(0)
            told.seek(0)
            said, text = out.read(), told.read()
        found = traces(args.gpupool, folder)
    replays = [d["replayed"] for t in found for d in t["devices"]]
    replays = [r for r in replays if r and r["checked"]]
    errors = [
        e for e in text.splitlines() if re.match(r"\w*(\.\w+)*Error\b", e)
    ]
    return {
        "program": line,
        "mode": mode,
        "status": status,
        "error": errors[-1][:200] if status and errors else "",
        "checked": sum(r["checked"] for r in replays),
        "matched": sum(r["matched"] for r in replays),
        "peaks": [r["at_peak"]["reserved_bytes"] for r in replays],
        "path": [t["values"] for t in found],
        "arithmetic": re.findall(r"^arithmetic: (.*)", said, re.M),
        "date": datetime.date.today().isoformat(),
    }


def kept(folder):
    path = os.path.join(folder, ROWS)
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as lines:
        rows = map(json.loads, lines)
        return {(row["program"], row["mode"]): row for row in rows}


def is_known(row):
    return all(path == KNOWN for path in row["path"])


def record_all(args, lines, done):
    for mode in args.modes.split(","):
        for line in lines:
            first = done.get((line, MODES[0]))
            if (line, mode) in done:
                continue
            if mode.startswith("drawn") and first and is_known(first):
                continue
            lacks = lacking(args.python, parts(line)[1])
            if lacks:
                print(f"skip {line}: no {' '.join(lacks)}", file=sys.stderr)
                continue
            row = done[line, mode] = record(args, line, mode)
            with open(
                os.path.join(args.kept, ROWS), "a", encoding="utf-8"
            ) as rows:
                print(json.dumps(row), file=rows, flush=True)


# ---- the table ----


def mib(size):
    return f"{size / (1 << 20):,.0f}"


def peaks(row):
    """For each device; or how the run ended."""
    if row is None:
        return ""
    if row["status"] is None:
        return "too long"
    if row["status"]:
        return f"exit {row['status']}"
    return " + ".join(map(mib, row["peaks"])) or "none"


def against(row, computed):
    """How far its peaks are from those with everything computed."""
    if not row or not computed or row["status"] != 0 or computed["status"] != 0:
        return ""
    if len(row["peaks"]) != len(computed["peaks"]):
        return "other traces"
    apart = [a / b - 1 for a, b in zip(row["peaks"], computed["peaks"])]
    return f"{max(apart, key=abs, default=0):+.1%}"


def path_of(row):
    unknown = [path for path in row["path"] if path != KNOWN]
    # The value that was read, without the place.
    return unknown[0].split(":")[0] if unknown else KNOWN


def table(lines, done):
    yield (
        "| program | replayed | known | all | drawn | known to all "
        "| drawn to all | path | arithmetic |\n"
    )
    yield "|---|--:|--:|--:|--:|--:|--:|---|---|\n"
    for line in lines:
        rows = [done.get((line, mode)) for mode in MODES]
        first = rows[0]
        if not first:
            continue
        cells = [line, f"{first['matched']:,} of {first['checked']:,}"]
        cells += [peaks(row) for row in rows]
        cells += [against(rows[0], rows[1]), against(rows[2], rows[1])]
        cells += [path_of(first) if first["path"] else "no trace"]
        cells += ["; ".join(first["arithmetic"])]
        yield "| " + " | ".join(cells) + " |\n"


def provenance(python, rows):
    """The date, and the versions."""
    dates = sorted(row["date"] for row in rows if "date" in row)
    said = subprocess.run(
        [python, "-c", VERSIONS, *PACKAGES], capture_output=True, text=True
    )
    when = " to ".join(dict.fromkeys(dates[:1] + dates[-1:]))
    return f"\n{when}: {', '.join(said.stdout.splitlines())}.\n"


def write(path, text):
    with open(path, encoding="utf-8") as page:
        before, rest = page.read().split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    with open(path, "w", encoding="utf-8") as page:
        page.write(before + MARKS[0] + text + MARKS[1] + after)


# ---- the check ----


def complaints(line, done):
    """What is wrong with a program: it must end, its replay must be exact, the
    arithmetic must agree, and if its path is known, computing everything must
    change nothing."""
    rows = [row for row in (done.get((line, m)) for m in MODES) if row]
    for row in rows:
        if row["status"] != 0 or not row["checked"]:
            yield f"{row['mode']}: {peaks(row)} {row['error']}"
        elif row["matched"] != row["checked"]:
            yield f"{row['mode']}: {row['matched']} of {row['checked']}"
        for said in row["arithmetic"]:
            if not said.endswith("differs by 0 B"):
                yield f"{row['mode']}: {said}"
    alike = [row for row in rows if is_known(row)]
    if len({tuple(row["peaks"]) for row in alike}) > 1:
        yield "known and all differ"


def check(lines, done):
    """How many programs failed."""
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for line in lines:
        said = list(complaints(line, done))
        if not any(name == line for name, _ in done):
            counts["skipped"] += 1
        else:
            counts["failed" if said else "passed"] += 1
        for complaint in said:
            print(f"FAIL {line}: {complaint}")
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return counts["failed"]


def main():
    args = arguments()
    if not os.access(args.python, os.X_OK):
        print(
            f"skip zoo: no Python with PyTorch: {args.python}; VENV names one"
        )
        return
    os.makedirs(args.kept, exist_ok=True)
    lines, done = programs(args.only), kept(args.kept)
    record_all(args, lines, done)
    text = "".join(table(lines, done))
    if args.check:
        sys.exit(check(lines, done) > 0)
    text += provenance(args.python, done.values())
    if args.write:
        write(args.write, text)
    else:
        print(text, end="")


main()
