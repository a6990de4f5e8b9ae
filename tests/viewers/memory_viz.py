# SPDX-License-Identifier: MIT
"""Every command of torch's _memory_viz.py, on a snapshot.

usage: memory_viz.py _memory_viz.py SNAPSHOT
"""

import importlib.util
import pickle
import sys


def load_viz(path):
    spec = importlib.util.spec_from_file_location("memory_viz", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(viz_path, path):
    viz = load_viz(viz_path)
    with open(path, "rb") as file:
        data = pickle.load(file)
    segments = data["segments"]

    def same(lines):  # in place of flamegraph.pl
        return lines

    reserved = sum(s["total_size"] for s in segments)
    assert f"segments: {len(segments)}" in viz.segsum(data)
    assert f"total_reserved: {viz.Bytes(reserved)}" in viz.segsum(data)

    entries = sum(len(t) for t in data["device_traces"])
    assert f"{entries} entries" in viz.trace(data)

    # The lines of a flame graph add up to the reserved bytes.
    for lines in (viz.segments(data, same), viz.memory(data, same)):
        sizes = [int(line.rsplit(" ", 1)[1]) for line in lines.splitlines()]
        assert sum(sizes) == reserved, (sum(sizes), reserved)

    gone = viz.compare(segments, segments[1:], same).splitlines()
    assert gone and all(line.startswith("only_before;") for line in gone)

    for page in (
        viz.trace_plot(data),
        viz.trace_plot(data, plot_segments=True),
        viz.segment_plot(data),
    ):
        assert "snapshot.pickle" in page


main(*sys.argv[1:])
