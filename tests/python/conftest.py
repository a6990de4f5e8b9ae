# SPDX-License-Identifier: MIT
"""Prints each test in the form that tests/run.sh counts, and finds the files
that tests use."""

import os
import pathlib

import pytest

TRACES = pathlib.Path(os.environ["TRACES"])


def _name(report):
    return report.nodeid.replace(" ", "_")


def pytest_terminal_summary(terminalreporter):
    write = terminalreporter.write_line
    write("")
    for report in terminalreporter.stats.get("passed", []):
        write("ok " + _name(report))
    for kind in ("failed", "error"):
        for report in terminalreporter.stats.get(kind, []):
            write("FAIL {}: see above".format(_name(report)))
    for report in terminalreporter.stats.get("skipped", []):
        why = report.longrepr[2] if report.longrepr else ""
        write("skip {}: {}".format(_name(report), why))


@pytest.fixture
def story():
    """A service that runs out of memory by fragmentation."""
    return TRACES / "stories" / "service-drifts-by-night.jsonl"
