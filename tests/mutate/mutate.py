#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Changes the program in one place and checks whether a test fails.

    mutate.py draw [SEED [COUNT]]   COUNT changes, drawn by SEED
    mutate.py again [SEED [COUNT]]  those of them that no test noticed
    mutate.py kept                  those of kept.tsv, each with its one test

Run by make mutate and make mutate-kept, which build a shared library, so that
for a change only its file is compiled and the library linked.  A change that
does not compile, or compiles to the same code, does not count.  A change is
caught if a part of the tests that runs the line (make coverage says which)
fails, and passes without the change.  Parts that are quick, named after the
file, or caught another change of it are tried first; those that take seconds
wait until the others have run for all changes.  Changes that no test noticed
are tried again in a build with sanitizers, in which .ci/run runs all tests,
too.

build/mutants.SEED.tsv has the result of each change, and a second run continues
from there; delete it to start again.  A draw does not depend on changes to
other lines.  same.tsv lists changes that were examined and have no visible
effect, with the reason; long parts and sanitizers do not try them.  Exit status
1: a twentieth or more of the changes that are not in it were not noticed, or
one of kept.tsv was not.
"""
import collections
import hashlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

import changes

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build/gcc-whole"))
COUNTED = f"{ROOT}/build/clang-coverage/coverage"
FOLDERS = ("src/allocator/caching", "src/replay", "src/trace",
           "src/report/gate", "src/study/metrics", "src/study/what_if",
           "src/study/floor", "src/report/exchange", "src/formats")


def sources():
    found = [os.path.join(at, name) for folder in FOLDERS
             for at, _, names in os.walk(os.path.join(ROOT, folder))
             for name in names if name.endswith(".c")]
    return sorted(os.path.relpath(file, ROOT) for file in found)


def read(file):
    with open(os.path.join(ROOT, file)) as stream:
        return stream.read()


def rows(name):
    """The rows of a table in this folder, by their first column."""
    with open(os.path.join(HERE, name)) as stream:
        table = [line.rstrip("\n").split("\t") for line in stream
                 if line.strip() and not line.startswith("#")]
    return dict(table)


class Parts:
    """The parts of the tests, and which of them run which line."""
    # In addition to its own time, a part takes a few processes of the shell.
    START_SECONDS = 0.3
    # The seconds from which on a part waits until all changes had the others.
    LONG_SECONDS = 2

    def __init__(self):
        self.of = collections.defaultdict(list)
        self.caught = collections.Counter()
        self.passes = {}
        self.lock = threading.Lock()
        for name in os.listdir(COUNTED):
            self.read(name.replace(",", "/"), f"{COUNTED}/{name}")

    def read(self, part, kept):
        with open(kept) as stream:
            for record in stream:
                kind, _, rest = record.rstrip("\n").partition(":")
                if kind == "seconds":
                    seconds = float(rest)
                elif kind == "SF":
                    file = os.path.relpath(rest, ROOT)
                elif kind == "DA" and not rest.endswith(",0"):
                    line = int(rest.partition(",")[0])
                    self.of[file, line].append((seconds, part))

    def of_line(self, change, is_long):
        """The parts that run the line, ordered by time and by how likely they
        catch it."""
        file = change.file
        own = "test_" + os.path.basename(file)[:-2]

        def cost(of):
            seconds, part = of
            likely = 1 + 20 * (os.path.basename(part) == own) + \
                5 * self.caught[file, part]
            return (seconds + self.START_SECONDS) / likely, part
        found = sorted(self.of[file, change.line], key=cost)
        return [of for of in found if IS_SANITIZED or
                (of[0] >= self.LONG_SECONDS) == is_long]

    def sound(self, seconds, part):
        """Whether the part passes without the change."""
        with self.lock:
            if part not in self.passes:
                self.passes[part] = passes(part, seconds, BUILD)
            return self.passes[part]

    def is_caught(self, seconds, part, folder):
        came = passes(part, seconds, folder)
        if came is None:  # a busy machine is slow, and would be so again
            return passes(part, seconds, BUILD)
        return not came and self.sound(seconds, part)


# So that a wrong size does no harm: 8 GiB of memory, 1 GiB per file. A
# sanitizer reserves more than that, so there the memory in use is counted.
IS_SANITIZED = "-fsanitize=" in os.environ.get("COMPILE", "")
LIMITED = ["sh", "-c", 'ulimit -f 2097152; exec "$@"' if IS_SANITIZED else
           'ulimit -v 8388608; ulimit -f 2097152; exec "$@"', "sh"]


def end_session(leader):
    """Ends the processes that a part of the tests left: Check's tests are in
    groups of their own, and some never end."""
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.getsid(int(name)) == leader:
                os.kill(int(name), signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass


def passes(part, seconds, folder):
    """Whether a part of the tests passes with the library in folder; None: it
    takes too long."""
    built = part.replace("build/clang-coverage", BUILD)
    if not os.path.splitext(part)[1] and not part.startswith("build/"):
        built = f"{BUILD}/{part}"
    with tempfile.TemporaryDirectory() as tmp:
        env = dict(os.environ, BUILD=BUILD, JOBS="1", TMPDIR=tmp,
                   LD_LIBRARY_PATH=folder,
                   ASAN_OPTIONS="hard_rss_limit_mb=8192")
        run = subprocess.Popen(LIMITED + [f"{ROOT}/tests/run.sh", built],
                               stdout=subprocess.DEVNULL, env=env, cwd=ROOT,
                               stderr=subprocess.DEVNULL,
                               start_new_session=True)
        try:
            return run.wait(60 + 20 * seconds) == 0
        except subprocess.TimeoutExpired:
            return None
        finally:
            end_session(run.pid)
            run.wait()


def compile_text(file, text, folder):
    """The bytes of the object; None: it does not compile."""
    source, built = f"{folder}/changed.c", f"{folder}/changed.o"
    with open(source, "w") as stream:
        stream.write(text)
    command = shlex.split(os.environ["COMPILE"]) + [
        "-w", "-iquote", os.path.dirname(file),
        f"-ffile-prefix-map={folder}=.", "-c", "-o", built, source]
    run = subprocess.run(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    if run.returncode:
        return None
    with open(built, "rb") as stream:
        return stream.read()


# The unchanged object of each file.
PLAIN = {}


def build(change, folder):
    """Links the changed library into folder; False: nothing has changed."""
    text = read(change.file)
    changed = text[:change.at] + change.new + \
        text[change.at + len(change.old):]
    if change.file not in PLAIN:
        PLAIN[change.file] = compile_text(change.file, text, folder)
    code = compile_text(change.file, changed, folder)
    if code is None or code == PLAIN[change.file]:
        return False
    replaced = f"{os.path.relpath(BUILD, ROOT)}/obj/{change.file[:-2]}.o"
    link = [f"{folder}/changed.o" if word == replaced else word
            for word in shlex.split(os.environ["LINK"])]
    subprocess.run(link + ["-o", f"{folder}/gpupool.so"], cwd=ROOT,
                   check=True)
    return True


def try_change(change, parts, is_long=False):
    """The result for a change: no change, left by the quick parts, left by the
    long ones, let pass by sanitizers, or the part that caught it."""
    folder = tempfile.mkdtemp()
    try:
        if not build(change, folder):
            return "no-change"
        for seconds, part in parts.of_line(change, is_long):
            if parts.is_caught(seconds, part, folder):
                parts.caught[change.file, part] += 1
                return os.path.basename(part)
        return "let pass" if IS_SANITIZED else \
            "passed" if is_long else "put off"
    finally:
        shutil.rmtree(folder)


def draw(seed):
    found = [c for file in sources() for c in changes.of(file, read(file))]
    return sorted(found, key=lambda c: hashlib.sha256(
        f"{seed} {c.file} {c.key}".encode()).digest())


def told(change):
    return f"{change.file}:{change.line}\t{change.key}"


class Run:
    """Tries changes until enough of them are real; records each result."""
    def __init__(self, seed, count):
        self.file = f"{ROOT}/build/mutants.{seed}.tsv"
        self.done = {}
        self.same = rows("same.tsv")
        if os.path.exists(self.file):
            with open(self.file) as stream:
                for line in stream:
                    verdict, _, key = line.rstrip("\n").split("\t")
                    self.done[key] = verdict
        self.parts = Parts()
        self.count = count
        self.results = {}
        self.lock = threading.Lock()
        self.out = open(self.file, "a")

    def one(self, change):
        if self.is_enough():
            return
        verdict = self.done.get(change.key)
        is_open = verdict is None or IS_SANITIZED and \
            verdict == "passed" and change.key not in self.same
        if is_open:
            verdict = try_change(change, self.parts)
        with self.lock:
            if is_open:
                self.keep(verdict, change)
            if not self.is_enough():
                self.results[change] = verdict

    def put_off(self, change):
        # Rows added to same.tsv in the meantime count.
        verdict = "passed" if change.key in rows("same.tsv") else \
            try_change(change, self.parts, True)
        with self.lock:
            self.keep(verdict, change)
            self.results[change] = verdict

    def keep(self, verdict, change):
        print(f"{verdict}\t{told(change)}", file=self.out, flush=True)

    def is_enough(self):
        return sum(v != "no-change"
                   for v in self.results.values()) >= self.count

    def all(self, drawn):
        with ThreadPoolExecutor(int(os.environ.get("JOBS", 0))
                                or os.cpu_count()) as pool:
            list(pool.map(self.one, drawn))
            list(pool.map(self.put_off, [c for c, v in self.results.items()
                                         if v == "put off"]))
        return self.results


def report(results):
    """Prints the table; returns how many were let pass wrongly, and of how
    many."""
    same = rows("same.tsv")
    sums = collections.defaultdict(collections.Counter)
    let_pass = []
    for change, verdict in results.items():
        folder = next(f for f in FOLDERS if change.file.startswith(f + "/"))
        kind = verdict if verdict == "no-change" else \
            "caught" if verdict not in ("put off", "passed", "let pass") else \
            "same" if change.key in same else "let pass"
        sums[folder][kind] += 1
        sums["all"][kind] += 1
        if kind == "let pass":
            let_pass.append(change)
    print(f"{'folder':24}{'drawn':>8}{'caught':>8}{'same':>8}{'let pass':>10}")
    for folder, s in sorted(sums.items(), key=lambda f: (f[0] == "all", f)):
        drawn = s["caught"] + s["same"] + s["let pass"]
        print(f"{folder:24}{drawn:8}{s['caught']:8}{s['same']:8}"
              f"{s['let pass']:10}")
    for change in sorted(let_pass):
        print("let pass: " + told(change).replace("\t", ": "))
    return len(let_pass), sums["all"]["caught"] + len(let_pass)


def kept():
    """Each change of kept.tsv, by the part that is named there."""
    found = {c.key: c for file in sources()
             for c in changes.of(file, read(file))}
    failed = False
    for key, part in rows("kept.tsv").items():
        folder = tempfile.mkdtemp()
        if key not in found:
            said = "FAIL", ": no line is like this any more"
        elif not build(found[key], folder):
            said = "FAIL", ": this changes nothing"
        elif passes(part, 60, folder):
            said = "FAIL", f": {part} lets it pass"
        else:
            said = "ok", ""
        shutil.rmtree(folder)
        failed |= said[0] == "FAIL"
        print(f"{said[0]} {key}{said[1]}", flush=True)
    return failed


def main(what, seed="0", count="200"):
    if what == "kept":
        sys.exit(kept())
    results = Run(seed, int(count)).all(draw(seed))
    if what == "again":
        missed, of = report(results)
        sys.exit(missed * 20 > of)


if __name__ == "__main__":
    main(*sys.argv[1:])
