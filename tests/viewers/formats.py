# SPDX-License-Identifier: MIT
"""Checks the files of a run against the rules of their formats, and against its
report.

usage: formats.py REPORT PERFETTO SPEEDSCOPE FOLDED CSV

Perfetto: "Trace Event Format"; speedscope: its file-format-schema.json.
"""

import csv
import json
import sys


def check_perfetto(path, peak):
    with open(path) as file:
        trace = json.load(file)
    assert set(trace) <= {"traceEvents", "displayTimeUnit", "otherData"}
    assert trace["displayTimeUnit"] in ("ms", "ns")
    open_slices, most = {}, 0
    for event in trace["traceEvents"]:
        phase = event["ph"]
        assert isinstance(event["pid"], int) and event["pid"] > 0
        assert isinstance(event["ts"], int) and event["ts"] >= 0
        if phase != "E":
            assert isinstance(event["name"], str)
        if phase == "C":
            assert set(event["args"]) == {"bytes"}
            assert event["args"]["bytes"] >= 0
            if event["name"] == "reserved":
                most = max(most, event["args"]["bytes"])
        elif phase in "BE":
            thread = event["pid"], event["tid"]
            depth = open_slices.get(thread, 0) + (1 if phase == "B" else -1)
            assert depth >= 0
            open_slices[thread] = depth
        elif phase in ("b", "e"):
            assert isinstance(event["cat"], str)
            assert isinstance(event["id"], str)
        elif phase == "i":
            assert event["s"] in ("g", "p", "t")
        else:
            assert phase == "M" and event["args"]["name"]
    assert not any(open_slices.values())
    assert most == peak, (most, peak)


def check_speedscope(path, peak):
    with open(path) as file:
        data = json.load(file)
    schema = "https://www.speedscope.app/file-format-schema.json"
    assert data["$schema"] == schema
    frames = data["shared"]["frames"]
    for frame in frames:
        assert set(frame) <= {"name", "file", "line", "col"}
        assert isinstance(frame["name"], str)
        assert isinstance(frame.get("line", 1), int)
    assert 0 <= data["activeProfileIndex"] < len(data["profiles"])
    total = 0
    for profile in data["profiles"]:
        assert profile["type"] == "sampled" and profile["unit"] == "bytes"
        assert profile["startValue"] == 0
        assert len(profile["samples"]) == len(profile["weights"])
        assert sum(profile["weights"]) == profile["endValue"]
        for stack in profile["samples"]:
            assert stack and all(0 <= i < len(frames) for i in stack)
        total += profile["endValue"]
    assert total == peak, (total, peak)


def check_folded(path, peak):
    total = 0
    with open(path) as file:
        for line in file:
            stack, size = line.rstrip("\n").rsplit(" ", 1)
            assert stack and all(stack.split(";"))
            total += int(size)
    assert total == peak, (total, peak)


def check_csv(path, peak):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        assert None not in row and None not in row.values()
    assert max(int(row["reserved"]) for row in rows) == peak


def main(report, perfetto, speedscope, folded, table):
    with open(report) as file:
        device = json.load(file)["runs"][0]["devices"][0]
    peak = device["memory_stats"]["reserved_bytes.all.peak"]
    check_perfetto(perfetto, peak)
    check_speedscope(speedscope, peak)
    check_folded(folded, peak)
    check_csv(table, peak)


main(*sys.argv[1:])
