# SPDX-License-Identifier: MIT
"""A fixture for tests with a limit on GPU memory.

    def test_step(gpu_memory):
        with gpu_memory.limit(reserved="2GiB"):
            train_step()

Without a GPU, all tests that use the fixture run in a child process under
gpupool record, and are reported as if they had run here.
"""

import contextlib
import gc
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Union

import gpupool
import pytest

from gpupool import _native

# Set in the child: the file to which it writes reports.
REPORTS = "GPUPOOL_PYTEST_REPORTS"

# Options of pytest that the child inherits from its parent.
SHARED = ("importmode", "runxfail", "showlocals", "tbstyle", "verbose")

HISTORY = 1000000  # events of the allocator that are kept within a limit


# ---- the fixture ----


def _bytes(size: Union[int, str]) -> int:
    """Parses a size like the command line: 2GiB, 512MiB, a number."""
    match = re.fullmatch(
        r"((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[0-9]{1,2})?) *([KMGT]?)(i?B)?",
        str(size).strip(),
        re.I,
    )
    if not match:
        raise ValueError("{!r} is not a size such as 2GiB".format(size))
    power = " KMGT".index(match.group(2).upper() or " ")
    return int(float(match.group(1)) * 1024**power)


def _shown(size: int) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if abs(size) >= unit:
            return "{:.2f} {}".format(size / unit, name)
    return "{} B".format(size)


class Limit:
    """The result of a block: the peaks of reserved and allocated, in bytes."""

    def __init__(self) -> None:
        self.reserved = 0
        self.allocated = 0


class GpuMemory:
    """The fixture gpu_memory."""

    def limit(
        self,
        reserved: Union[int, str, None] = None,
        allocated: Union[int, str, None] = None,
        settings: Union[str, Mapping[str, Any], None] = None,
        device: int = 0,
    ) -> "_Block":
        """A block with limits; the test fails if it takes more.

        reserved   what PyTorch may reserve of the device
        allocated  what tensors may take
        settings   of the allocator, in place of those that the test runs
                   under: the block is replayed with them
        """
        most = {
            name: _bytes(size)
            for name, size in (("reserved", reserved), ("allocated", allocated))
            if size is not None
        }
        return _Block(most, settings, device)


class _Block:
    _is_within = False  # PyTorch has one history, which a second would end

    def __init__(
        self,
        most: Dict[str, int],
        settings: Union[str, Mapping[str, Any], None],
        device: int,
    ) -> None:
        self._most = most
        self._settings = settings
        self._device = device
        self._limit = Limit()

    def __enter__(self) -> Limit:
        import torch

        if not torch.cuda.is_available():
            pytest.skip("PyTorch has no CUDA here")
        if _Block._is_within:
            pytest.fail(
                "gpu_memory: a limit within a limit: PyTorch keeps one history"
            )
        # Memory that an earlier test left does not count.
        gc.collect()
        torch.cuda.init()
        torch.cuda.empty_cache()
        self._history(True)
        _Block._is_within = True
        return self._limit

    def __exit__(self, kind: Optional[type], *_: object) -> None:
        import torch

        __tracebackhide__ = True
        _Block._is_within = False
        snapshot = torch.cuda.memory._snapshot()
        is_on = getattr(torch._C, "_cuda_isHistoryEnabled", None)
        is_kept = is_on is None or is_on()
        self._history(False)
        if kind is None and not is_kept:
            pytest.fail("gpu_memory: the block ended PyTorch's history")
        elif kind is None:
            self._judge(snapshot)

    def _history(self, is_on: bool) -> None:
        import torch

        record = torch.cuda.memory._record_memory_history
        try:
            if is_on:
                record("all", stacks="python", max_entries=HISTORY)
            else:
                record(None)
        except TypeError:  # PyTorch 2.0
            record(is_on, trace_alloc_max_entries=HISTORY)

    def _judge(self, snapshot: Mapping[str, Any]) -> None:
        options: Dict[str, Any] = {}
        if isinstance(self._settings, str):
            options["alloc_conf"] = self._settings
        elif self._settings:
            options.update(self._settings)
        if not any(snapshot["device_traces"]):
            self._judge_start(snapshot)
            return
        rows: List[Dict[str, Any]] = []
        trouble = ""
        try:
            rows = gpupool.load(snapshot).events(**options)
        except gpupool.Error as error:
            trouble = "gpu_memory: {}".format(error)
        if trouble:
            pytest.fail(trouble, pytrace=False)
        rows = [row for row in rows if row["device"] == self._device]
        broken = [
            self._broken(name, most, rows) for name, most in self._most.items()
        ]
        self._limit.reserved = max((r["reserved"] for r in rows), default=0)
        self._limit.allocated = max((r["allocated"] for r in rows), default=0)
        said = [text for text in broken if text]
        if said:
            pytest.fail("\n".join(said), pytrace=False)

    def _judge_start(self, snapshot: Mapping[str, Any]) -> None:
        """Judges a block without requests by what was there before."""
        segments = [
            s for s in snapshot["segments"] if s.get("device") == self._device
        ]
        self._limit.reserved = sum(s["total_size"] for s in segments)
        self._limit.allocated = sum(s["allocated_size"] for s in segments)
        said = [
            "{} memory was {} above its limit of {} before the block".format(
                name, _shown(above), _shown(most)
            )
            for name, most in self._most.items()
            for above in [getattr(self._limit, name) - most]
            if above > 0
        ]
        if said:
            pytest.fail("\n".join(said), pytrace=False)

    def _broken(
        self, name: str, most: int, rows: List[Dict[str, Any]]
    ) -> Optional[str]:
        """Says which line broke the limit, and by how much; None: none did."""
        above = [row for row in rows if row[name] > most]
        if not above:
            return None
        first, peak = above[0], max(above, key=lambda row: row[name])
        text = (
            "{} memory went {} above its limit of {}: {} asked for {}".format(
                name,
                _shown(peak[name] - most),
                _shown(most),
                _site(peak),
                _shown(peak["size"] or 0),
            )
        )
        if first is not peak:
            text += "\nthe limit was first exceeded, by {}, at {}".format(
                _shown(first[name] - most), _site(first)
            )
        return text


def _site(row: Mapping[str, Any]) -> str:
    return str(row["site"] or "a line that is not known")


@pytest.fixture
def gpu_memory() -> GpuMemory:
    """Holds a block to a limit: with gpu_memory.limit(reserved="2GiB"):"""
    return GpuMemory()


# ---- the child, which runs under gpupool record ----


class _Child:
    """Runs the selected tests with the parent's options, and writes each report
    to a file, which the parent shows."""

    def __init__(self, config: Any, path: str) -> None:
        self._config = config
        self._path = path
        with open(path + ".wanted", "rb") as file:
            tests, options = pickle.load(file)
        self._wanted = set(tests)
        self._take_options(options)

    def _take_options(self, given: Dict[str, bytes]) -> None:
        """Takes the options of conftest.py, and those of pytest that change how
        tests run or are shown. Others, such as --junitxml, apply only to the
        parent."""
        option, early = self._config.option, self._config.known_args_namespace
        for name in vars(option):
            if name in given and (name in SHARED or not hasattr(early, name)):
                setattr(option, name, pickle.loads(given[name]))

    def pytest_collection_modifyitems(self, config: Any, items: Any) -> None:
        items[:] = [item for item in items if item.nodeid in self._wanted]

    def pytest_runtest_logreport(self, report: Any) -> None:
        data = self._config.hook.pytest_report_to_serializable(
            config=self._config, report=report
        )
        with open(self._path, "a") as file:
            file.write(json.dumps(data, default=str) + "\n")


# ---- the parent ----


def _is_ours(item: Any) -> bool:
    return "gpu_memory" in getattr(item, "fixturenames", ())


class _Parent:
    """Has a child run the tests, all of them when the first one is due."""

    def __init__(self, config: Any) -> None:
        self._config = config
        self._reports: Optional[Dict[str, List[Any]]] = None
        self._trouble = ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> Any:
        if not _is_ours(item):
            return None
        if hasattr(self._config, "workerinput"):
            # A worker of pytest-xdist takes tests one by one.
            self._reports = self._run([item])
        elif self._reports is None:
            self._reports = self._run(
                [i for i in item.session.items if _is_ours(i)]
            )
        item.ihook.pytest_runtest_logstart(
            nodeid=item.nodeid, location=item.location
        )
        for report in self._reports.get(item.nodeid) or [self._lost(item)]:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(
            nodeid=item.nodeid, location=item.location
        )
        return True

    def _lost(self, item: Any) -> Any:
        return pytest.TestReport(
            nodeid=item.nodeid,
            location=item.location,
            keywords={},
            outcome="failed",
            longrepr="it did not end under gpupool record:\n" + self._trouble,
            when="call",
        )

    def _run(self, wanted: List[Any]) -> Dict[str, List[Any]]:
        with tempfile.TemporaryDirectory(prefix="gpupool-pytest-") as folder:
            path = os.path.join(folder, "reports")
            tests = [item.nodeid for item in wanted]
            with open(path + ".wanted", "wb") as file:
                pickle.dump((tests, self._options()), file)
            done = subprocess.run(
                self._command(wanted, folder),
                env=dict(os.environ, **{REPORTS: path}),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
            self._trouble = done.stdout.decode("utf-8", "replace")[-4000:]
            return self._read(path)

    def _options(self) -> Dict[str, bytes]:
        """Packed separately: the class of a value may be from conftest.py."""
        packed = {}
        for name, value in vars(self._config.option).items():
            with contextlib.suppress(Exception):
                packed[name] = pickle.dumps(value)
        return packed

    def _command(self, wanted: List[Any], folder: str) -> List[str]:
        config = self._config
        words = [_native.program(), "record", "-q", "--stacks"]
        gpu = config.getoption("gpupool_gpu")
        if gpu:
            words.append("--gpu=" + gpu)
        words += ["-o", os.path.join(folder, "trace.json"), "--"]
        words += [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
        for name in config.getoption("plugins"):
            if name != "no:terminal":  # a pytest-xdist worker has none
                words += ["-p", name]
        for name in config.getoption("pythonwarnings") or ():
            words += ["-W", name]
        for name in config.getoption("override_ini") or ():
            words += ["-o", name]
        words.append("--rootdir=" + str(config.rootpath))
        if config.inipath:
            words += ["-c", str(config.inipath)]
        files = {str(item.path): None for item in wanted}
        return [*words, "--", *files]

    def _read(self, path: str) -> Dict[str, List[Any]]:
        reports: Dict[str, List[Any]] = {}
        if not os.path.exists(path):
            return reports
        with open(path) as file:
            for line in file:
                report = self._config.hook.pytest_report_from_serializable(
                    config=self._config, data=json.loads(line)
                )
                reports.setdefault(report.nodeid, []).append(report)
        return {k: v for k, v in reports.items() if v[-1].when == "teardown"}


def _has_gpu() -> bool:
    """Whether this machine has a GPU: whether its driver is loaded."""
    return os.path.exists("/proc/driver/nvidia/version")


def pytest_addoption(parser: Any) -> None:
    parser.getgroup("gpupool").addoption(
        "--gpupool-gpu",
        dest="gpupool_gpu",
        metavar="NAME",
        help="the GPU that tests with gpu_memory see if there is none",
    )


def pytest_configure(config: Any) -> None:
    path = os.environ.get(REPORTS)
    if path:
        config.pluginmanager.register(_Child(config, path), "gpupool-child")
    elif not _has_gpu() and "SIMCUDA_RECORD" not in os.environ:
        config.pluginmanager.register(_Parent(config), "gpupool-parent")
