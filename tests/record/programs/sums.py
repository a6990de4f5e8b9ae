# SPDX-License-Identifier: MIT
"""Whether the memory of categories, and of modules, adds up to what is
allocated: sums.py TRACE.json, at fifty moments of its run."""

import json
import subprocess
import sys

MOMENTS = 50


def view(moment, by):
    said = subprocess.run(
        ["gpupool", "view", "holders", sys.argv[1], "--by", by]
        + ["--at", str(moment), "--format", "json"],
        check=True,
        capture_output=True,
    )
    return json.loads(said.stdout)


events = view("end", "category")["events"]
for i in range(MOMENTS):
    moment = i * (events - 1) // (MOMENTS - 1)
    for by in "category", "module":
        found = view(moment, by)
        total = sum(holder["bytes"] for holder in found["holders"])
        if total != found["allocated_bytes"]:
            sys.exit(f"event {moment}: by {by} {total}")
print("all sum to what is allocated")
