# SPDX-License-Identifier: MIT
"""The purposes of the memory at the end of a trace: owned.py TRACE.json
CATEGORY... prints the requested bytes of each."""

import collections
import json
import sys

trace = json.load(open(sys.argv[1]))
owners = trace["owners"]
total = collections.Counter()
for device in trace["devices"]:
    live = {}
    for event in device["events"]:
        if event["op"] == "alloc" and not event.get("refused"):
            live[event["id"]] = event
        elif event["op"] == "free":
            del live[event["id"]]
    for event in live.values():
        owner = owners[event["owner"]] if "owner" in event else {}
        total[owner.get("category", "unknown")] += event["size"]
for category in sys.argv[2:]:
    print(category, total[category])
