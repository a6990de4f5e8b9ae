# SPDX-License-Identifier: MIT
"""Compares gpupool with RMM's own replay, on RMM's own logs.

    python3 rmm_log.py GPUPOOL ENGINES WORK KIND...

ENGINES/rmm-replay runs generated actions through RMM's resource of that kind,
and RMM's logging_resource_adaptor logs their results. When this log is replayed
by rmm-replay, and by gpupool on ENGINES/rmm-KIND.so, the result must be the
same log: each action, with its pointer.
"""
import csv
import json
import os
import random
import subprocess
import sys

ACTIONS = 2500
HEADER = "Thread,Time,Action,Pointer,Size,Stream\n"
# The requests need more than the smaller one.
CAPACITIES = (1200 << 20, 16 << 30)
WORDS = {"alloc": "allocate", "free_completed": "free",
         "oom": "allocate failure"}


def made_up(path):
    dice = random.Random(25)
    live = []
    with open(path, "w") as out:
        out.write(HEADER)
        for number in range(1, ACTIONS):
            if live and dice.random() < 0.47:
                row = live.pop(dice.randrange(len(live)))
                action = "free"
            else:
                size = int(2 ** dice.uniform(0, 27))
                row = (number << 12, 0 if number % 97 == 0 else size,
                       dice.choice([0, 0, 0x55d2a8c01020]))
                live.append(row)
                action = "allocate"
            out.write("1,10:00:00.000000,%s,0x%x,%d,0x%x\n" % (action, *row))


def of_log(path):
    """An allocation of no bytes has no address; gpupool leaves it out."""
    with open(path) as log:
        rows = [(r["Action"], int(r["Pointer"].replace("(nil)", "0"), 16),
                 int(r["Size"])) for r in csv.DictReader(log)]
    return [r for r in rows if r[2]]


def of_gpupool(program, engine, capacity, path):
    said = subprocess.run(
        [program, "replay", path, "-q", "--engine", engine, "--capacity",
         str(capacity), "--events", "-"],
        stdout=subprocess.PIPE, check=False, text=True).stdout
    events = [json.loads(line) for line in said.splitlines()]
    return [(WORDS[e["action"]], e.get("addr", 0), e["size"])
            for e in events if e["action"] in WORDS]


def differ(what, one, other):
    if one == other:
        return False
    at = next((i for i, (a, b) in enumerate(zip(one, other)) if a != b),
              min(len(one), len(other)))
    print("%s, action %d: %s, and %s" % (what, at, one[at:at + 1],
                                         other[at:at + 1]))
    return True


def main():
    program, engines, work = sys.argv[1:4]
    asked, log, again = (os.path.join(work, name)
                         for name in ("asked.csv", "log.csv", "again.csv"))
    compared = failures = 0
    made_up(asked)
    for kind in sys.argv[4:]:
        for capacity in CAPACITIES:
            os.environ["SIMCUDA_CAPACITY"] = str(capacity)
            for source, to in (asked, log), (log, again):
                subprocess.run([os.path.join(engines, "rmm-replay"), kind,
                                source, to], check=True)
            first = of_log(log)
            engine = os.path.join(engines, "rmm-%s.so" % kind)
            ours = of_gpupool(program, engine, capacity, log)
            name = "rmm-%s in %d" % (kind, capacity)
            if differ(name + ", RMM again", first, of_log(again)) or differ(
                    name + ", gpupool", first, ours):
                return 1
            compared += len(first)
            failures += sum(row[0] == "allocate failure" for row in first)
    print("%d actions, of which %d have no memory" % (compared, failures))
    return 0 if failures and compared > ACTIONS else 1


if __name__ == "__main__":
    sys.exit(main())
