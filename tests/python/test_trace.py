# SPDX-License-Identifier: MIT
"""Traces and answers, compared with the output of the command line."""

import copy
import doctest
import gc
import gzip
import importlib
import json
import os
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import threading
import time

import gpupool
import pytest
from gpupool import _native

from conftest import TRACES

SNAPSHOT = TRACES / "recorded" / "fsdp-rank0-of-64.default.pickle.gz"


def command(*words):
    return subprocess.run(
        [_native.program(), *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize(
    "name", ["replay", "suggest", "explain", "look", "headroom", "info"]
)
def test_an_answer_is_the_command_lines_to_the_byte(story, name):
    answer = getattr(gpupool.load(story), name)()
    said = command(name, "--format=json", "-q", story)
    assert answer.json == said.stdout
    assert answer.dict() == json.loads(said.stdout)
    assert str(answer).encode() == command(name, "-q", story).stdout


def test_keywords_are_options_and_settings(story):
    answer = gpupool.load(story).replay(
        max_split_size_mb=128, capacity="80GiB", release="2.9"
    )
    run = answer.runs[0]
    assert run.alloc_conf == "max_split_size_mb:128"
    assert run.torch == "2.9"
    assert run.devices[0].capacity == 80 << 30


def test_false_is_a_settings_value_and_no_option(story):
    trace = gpupool.load(story)
    run = trace.replay(expandable_segments=False, merge_streams=False).runs[0]
    assert run.alloc_conf == "expandable_segments:False"


def test_a_list_is_an_option_each(story):
    answer = gpupool.load(story).suggest(
        without=["expandable_segments", "max_split_size_mb"]
    )
    assert (
        answer.json
        == command(
            "suggest",
            "--without=expandable_segments",
            "--without=max_split_size_mb",
            "--format=json",
            "-q",
            story,
        ).stdout
    )


def test_a_sweep_has_a_row_for_each_combination(story):
    rows = gpupool.load(story).sweep(
        max_split_size_mb=[None, 64, 128], expandable_segments=[False, True]
    )
    assert len(rows) == 6
    assert [row["rank"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert rows.best.alloc_conf == "expandable_segments:True"
    assert rows.best.torch == "2.15"
    assert "expandable_segments:True" in str(rows)
    assert rows._repr_html_().count("<tr>") == 7


def test_a_sweeps_rows_are_its_report(story):
    trace = gpupool.load(story)
    values = {"max_split_size_mb": [None, 64], "engine": ["caching", "direct"]}
    words = ["--set=engine=caching,direct", "--set=max_split_size_mb=none,64"]
    report = json.loads(trace.ask("sweep", *words, format="json"))
    for row in trace.sweep(**values):
        run = report["runs"][row["combination"]]
        assert "alloc_conf" in row
        run.update(run["summary"])
        for key in row.keys() & run.keys() - {"capacity"}:
            assert row[key] == run[key], key


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_frames_take_a_sweep(story, package):
    frames = pytest.importorskip(package)
    rows = gpupool.load(story).sweep(expandable_segments=[False, True])
    frame = frames.DataFrame(rows)
    assert frame.shape[0] == 2
    assert list(frame["num_ooms"]) == [0, 1]


def test_a_column_is_of_one_type_however_long(story):
    # polars infers types from the first hundred rows.
    rows = gpupool.load(story).sweep(
        max_split_size_mb=range(32, 160), engine=["caching", "best-fit"]
    )
    events = gpupool.load(story).events()
    for table in (rows, events):
        for column in table[0]:
            kinds = {type(row[column]) for row in table} - {type(None)}
            assert len(kinds) <= 1, (column, kinds)
    assert rows._repr_html_().count("<tr>") == 101
    assert "more" in rows._repr_html_()


def test_without_a_limit_a_capacity_is_none(story):
    rows = gpupool.load(story).sweep(capacity=["80GiB", "unlimited"])
    assert {row["capacity"] for row in rows} == {80 << 30, None}


OUT_OF_MEMORY = (
    "[rank{0}]: CUDA out of memory. Tried to allocate 2.00 GiB. GPU {0} has a "
    "total capacity of 8.00 GiB of which 1.00 GiB is free. Of the allocated "
    "memory 4.00 GiB is allocated by PyTorch, and 3.00 GiB is reserved by "
    "PyTorch but unallocated.\n"
)


def test_a_log_is_looked_at_and_no_trace(tmp_path):
    for rank in range(2):
        log = tmp_path / "{}.log".format(rank)
        log.write_text(OUT_OF_MEMORY.format(rank))
    answer = gpupool.look(log)
    assert (answer.cause, answer.rank) == ("fragmentation", 1)
    assert str(answer).encode() == command("look", log).stdout
    assert len(gpupool.look(tmp_path).logs) == 2
    with pytest.raises(gpupool.InputError, match="gpupool.look") as error:
        gpupool.load(log)
    assert "gpupool.look" in error.value.hint
    with pytest.raises(gpupool.UsageError):
        gpupool.look()


def test_what_is_no_report_is_refused(story, tmp_path):
    trace = gpupool.load(story)
    for options in (
        {"format": "text"},
        {"output": tmp_path / "report"},
        {"help": True},
    ):
        with pytest.raises(gpupool.UsageError, match='ask."replay"'):
            trace.replay(**options)


def test_bytes_paths_and_snapshots_are_read_alike():
    data = gzip.decompress(SNAPSHOT.read_bytes())
    traces = [
        gpupool.load(SNAPSHOT),
        gpupool.load(str(SNAPSHOT)),
        gpupool.load(data),
        gpupool.load(bytearray(data)),
        gpupool.load(pickle.loads(data)),
    ]
    answers = [trace.replay().dict()["runs"] for trace in traces]
    assert all(answer == answers[0] for answer in answers)


def host_snapshot():
    """A trace with requests for pinned host memory, and others for a device."""

    def entry(action, address, size):
        return {
            "action": action,
            "addr": address,
            "size": size,
            "stream": 0,
            "time_us": 1,
            "frames": [],
        }

    return {
        "segments": [],
        "device_traces": [[entry("alloc", 1 << 40, 512)]],
        "host_traces": [entry("alloc", 1 << 30, 3 << 20)],
        "host_segments": [],
    }


def test_pinned_host_memory_has_requests_of_its_own(tmp_path):
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(pickle.dumps(host_snapshot()))
    said = command("replay", "--engine=pinned", "--format=json", "-q", path)
    assert said.returncode == 0, said.stderr
    expected = json.loads(said.stdout)["runs"][0]["devices"]
    for source in (path, path.read_bytes(), host_snapshot()):
        trace = gpupool.load(source)
        before = trace.replay().json
        run = trace.replay(engine="pinned").runs[0]
        assert run["devices"][0].dict() == expected[0]
        assert trace.events(engine="pinned")[-1]["size"] == 3 << 20
        assert trace.replay().json == before


def test_a_snapshot_without_pinned_host_memory(tmp_path):
    trace = gpupool.load(SNAPSHOT)
    said = command("replay", "--engine=pinned", "-q", SNAPSHOT)
    with pytest.raises(gpupool.InputError, match="pinned host") as caught:
        trace.replay(engine="pinned")
    assert "gpupool: " + str(caught.value) == said.stderr.decode().strip()
    with pytest.raises(gpupool.UsageError, match="no flag --engine"):
        trace.look(engine="pinned")


def test_an_engine_in_a_process_of_its_own(story, tmp_path):
    library = tmp_path / "first_fit.so"
    root = pathlib.Path(os.environ["GPUPOOL_ROOT"])
    words = ["cc", "-shared", "-fPIC", "-I", root / "include", "-o", library]
    words.append(root / "examples" / "engine" / "first_fit.c")
    if subprocess.run(words, stderr=subprocess.DEVNULL).returncode:
        pytest.skip("there is no compiler")
    said = command("replay", "-q", "--engine", library, "--format=json", story)
    assert said.returncode == 0, said.stderr
    assert gpupool.load(story).replay(engine=library).json == said.stdout


def test_no_server_takes_the_programs_input(story):
    from gpupool._library import Session

    with pytest.raises(gpupool.UsageError, match="standard input"):
        Session().ask([b"mcp"])


def test_a_packed_trace_may_be_larger(story):
    said = command("look", "-q", "--max-input=1KiB", SNAPSHOT)
    for source in (SNAPSHOT, SNAPSHOT.read_bytes()):
        with pytest.raises(gpupool.InputError, match="decompresses to more"):
            gpupool.load(source, max_input=1024)
        assert gpupool.load(source, max_input=1 << 40).info()
    with pytest.raises(gpupool.InputError) as caught:
        gpupool.load(SNAPSHOT, max_input=1024)
    for size in -1, 1 << 64:
        with pytest.raises(gpupool.UsageError, match="not a size"):
            gpupool.load(SNAPSHOT, max_input=size)
    assert "gpupool: " + str(caught.value) == said.stderr.decode().strip()


def test_several_are_ranks(story):
    trace = gpupool.load(story, story.read_bytes())
    assert trace.suggest().devices
    assert "trace" in repr(trace)


def test_a_folder_is_ranks():
    text = str(gpupool.load(TRACES / "stories").look())
    assert "rank" in text.lower()


def folder_with_a_broken_rank(folder, story):
    for rank in range(2):
        (folder / "rank{}.jsonl".format(rank)).write_bytes(story.read_bytes())
    (folder / "rank2.json").write_bytes(b"")
    return gpupool.load(folder)


@pytest.mark.parametrize("command", ["look", "suggest", "replay", "headroom"])
def test_a_rank_that_cannot_be_read_is_named(command, tmp_path, story):
    trace = folder_with_a_broken_rank(tmp_path, story)
    with pytest.warns(UserWarning, match="1 of 3 traces cannot be read"):
        answer = getattr(trace, command)()
    assert answer.status == 3
    assert "rank2.json" in answer.ranks.unread[0].path
    assert "rank2.json: it is empty" in str(answer)


def test_a_sweep_without_a_rank_says_so(tmp_path, story):
    trace = folder_with_a_broken_rank(tmp_path, story)
    with pytest.warns(UserWarning, match="rank2.json") as warned:
        assert trace.sweep(expandable_segments=[False, True])
        assert trace.suggest().devices
        assert trace.ask("suggest")
    assert [w.filename for w in warned] == [__file__] * 3


def test_the_worst_rank_of_an_answer(tmp_path, story):
    trace = folder_with_a_broken_rank(tmp_path, story)
    with pytest.warns(UserWarning):
        answer = trace.suggest()
    assert [d for d in answer.devices if d.trace == answer.trace.path]


def test_events_are_of_one_trace(tmp_path, story):
    for trace in (
        folder_with_a_broken_rank(tmp_path, story),
        gpupool.load(story, story.read_bytes()),
    ):
        with pytest.raises(gpupool.UsageError, match="ranks of a job"):
            trace.events()


def test_events_follow_the_run(story):
    events = gpupool.load(story).events(expandable_segments=True)
    assert events[0]["site"] == "serve.py:20 load"
    peak = max(event["reserved"] for event in events)
    answer = gpupool.load(story).replay(expandable_segments=True)
    stats = answer.runs[0].devices[0].memory_stats
    assert peak == stats["reserved_bytes.all.peak"]


def test_what_is_shown_in_a_notebook(story):
    trace = gpupool.load(story)
    assert "<td>alloc_conf" in trace.replay().runs[0]._repr_html_()
    assert "<th>site" in trace.events()._repr_html_()
    for shown in (trace, trace.replay()):
        text = shown._repr_html_()
        assert "data:image/svg+xml;base64," in text
        assert "<script" not in text
    page = trace.page()
    assert page.startswith("<!DOCTYPE html>") or "<html" in page
    assert "sandbox" in page._repr_html_()


def test_names_of_a_trace_are_escaped_in_html(story, tmp_path):
    path = tmp_path / "<img src=x onerror=alert(1)>.jsonl"
    path.write_bytes(story.read_bytes())
    assert "<img src=x" not in gpupool.load(path).replay()._repr_html_()


def test_an_error_is_the_command_lines_sentence(story):
    trace = gpupool.load(story)
    for ask, kind, words in [
        (
            lambda: trace.replay(capacity="7x"),
            gpupool.UsageError,
            ["replay", "--capacity=7x"],
        ),
        (
            lambda: trace.replay(max_split_size_mb=1),
            gpupool.InputError,
            ["replay", "--max-split-mb=1"],
        ),
        (
            lambda: trace.replay(no_such_thing=1),
            gpupool.UsageError,
            ["replay", "--no-such-thing=1"],
        ),
        (
            lambda: trace.replay(capacity=True),
            gpupool.UsageError,
            ["replay", story, "--capacity"],
        ),
        (
            lambda: trace.replay(output=True, strict=True),
            gpupool.UsageError,
            ["replay", "--output", "--strict"],
        ),
        (
            lambda: gpupool.load("/no/such.pickle").look(),
            gpupool.InputError,
            ["look", "/no/such.pickle"],
        ),
        (
            lambda: gpupool.load(""),
            gpupool.InputError,
            ["look", ""],
        ),
    ]:
        is_whole = words[0] == "look" or story in words
        said = command(*words) if is_whole else command(*words, story)
        with pytest.raises(kind) as caught:
            ask()
        assert "gpupool: " + str(caught.value) == said.stderr.decode().strip()
        assert caught.value.status == said.returncode
        assert caught.value.what


@pytest.mark.parametrize(
    "source",
    [
        "",
        b"",
        b"not a trace",
        {"a": 1},
        {"segments": lambda: 1},
        "/nowhere/\x1b[2J.pickle",
        "with\0nul",
    ],
)
def test_what_is_no_trace_is_refused(source):
    with pytest.raises(gpupool.InputError) as caught:
        gpupool.load(source)
    assert str(caught.value) and "\x1b" not in str(caught.value)


def test_no_source_and_options_with_nul_are_refused(story):
    with pytest.raises(gpupool.UsageError):
        gpupool.load()
    with pytest.raises(gpupool.UsageError):
        gpupool.load(story).replay(alloc_conf="a\0b")


def test_a_path_that_looks_like_an_option(story, tmp_path, monkeypatch):
    (tmp_path / "-o.jsonl").write_bytes(story.read_bytes())
    monkeypatch.chdir(tmp_path)
    assert gpupool.load("-o.jsonl").info().source == "gpupool-trace"


def test_a_closed_trace_says_so(story):
    with gpupool.load(story) as trace:
        assert trace.info()
    with pytest.raises(ValueError, match="closed"):
        trace.info()


def test_threads_ask_at_once(story):
    trace = gpupool.load(story)
    expected = trace.suggest().json
    answers = []

    def ask():
        try:
            answers.append(trace.suggest().json)
        except ValueError:
            pass  # it was closed before this thread began

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    answers.append(trace.suggest().json)
    trace.close()
    for thread in threads:
        thread.join()
    assert set(answers) == {expected}


def test_traces_are_freed():
    data = SNAPSHOT.read_bytes()

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def read():
        gpupool.load(data).info()
        gc.collect()

    for _ in range(5):
        read()
    before = resident()
    for _ in range(40):
        read()
    # A trace of this file takes a few MiB.
    assert resident() - before < 32 << 20


def test_a_fork_asks_too(story):
    trace = gpupool.load(story)
    expected = trace.suggest().json
    child = os.fork()
    if not child:
        os._exit(0 if trace.suggest().json == expected else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_ctrl_c_gets_through(story):
    # Hours of replays.
    done = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import gpupool, sys\n"
            "trace = gpupool.load(sys.argv[1])\n"
            "print('now', flush=True)\n"
            "trace.sweep(\n"
            "    preset='full', jobs=1,\n"
            "    release=['2.{}'.format(i) for i in range(16)],\n"
            "    capacity=['{}GiB'.format(40 + i) for i in range(90)],\n"
            ")\n",
            str(story),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        assert done.stdout.readline() == b"now\n"
        time.sleep(0.5)
        done.send_signal(signal.SIGINT)
        assert b"KeyboardInterrupt" in done.communicate(timeout=30)[1]
    finally:
        done.kill()
        done.wait()


def test_a_sweep_that_is_interrupted_ends(story):
    # Hours of replays: they continue in no thread.
    program = (
        "import gpupool, signal, sys, threading, time\n"
        "trace = gpupool.load(sys.argv[1])\n"
        "signal.signal(signal.SIGALRM, signal.default_int_handler)\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.5)\n"
        "try:\n"
        "    trace.sweep(\n"
        "        preset='full', jobs=1,\n"
        "        release=['2.{}'.format(i) for i in range(16)],\n"
        "        capacity=['{}GiB'.format(40 + i) for i in range(90)],\n"
        "    )\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
        "while threading.active_count() > 1:\n"
        "    time.sleep(0.05)\n"
        "print(trace.suggest().devices[0].verdict.kind)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(story)],
        stdout=subprocess.PIPE,
        timeout=300,
    )
    assert done.stdout == b"interrupted\nsetting\n"


def test_a_question_at_the_interpreters_end(story):
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import atexit, gpupool, sys\n"
            "class Last:\n"
            "    def __init__(self): self.trace = gpupool.load(sys.argv[1])\n"
            "    def __del__(self): print(len(self.trace.ask('look')))\n"
            "last = sys.modules['last'] = Last()\n"
            "atexit.register(lambda: print(len(last.trace.ask('look'))))\n",
            str(story),
        ],
        stdout=subprocess.PIPE,
        timeout=60,
    )
    first, second = done.stdout.split()
    assert first == second


def test_answers_outlive_their_trace(story):
    with gpupool.load(story) as trace:
        expected = str(trace.suggest()), str(trace.sweep(engine="caching"))
        shown = trace.replay()._repr_html_()
        answer, rows = trace.suggest(), trace.sweep(engine="caching")
        run = trace.replay()
    assert (str(answer), str(rows)) == expected
    assert run._repr_html_() == shown


@pytest.mark.parametrize(
    "again",
    [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy],
)
def test_answers_go_to_other_processes(story, again):
    trace = gpupool.load(story)
    answer = trace.replay()
    other = again(answer)
    assert type(other) is gpupool.Answer and other == answer
    assert (str(other), other.json) == (str(answer), answer.json)
    assert (other.status, other.notes) == (answer.status, answer.notes)
    assert other._repr_html_() == answer._repr_html_()
    assert again(answer.runs[0]) == answer.runs[0]
    rows = trace.sweep(expandable_segments=[False, True])
    del rows[1]
    other = again(rows)
    assert type(other) is gpupool.Sweep and other == rows
    assert (str(other), other.notes) == (str(rows), rows.notes)


def test_a_number_that_may_be_two_releases(story):
    trace = gpupool.load(story)
    for ask in (
        lambda: trace.replay(release=2.10),
        lambda: trace.suggest(torch=2.1),
        lambda: trace.sweep(release=[2.9, 2.10]),
    ):
        with pytest.raises(gpupool.UsageError, match="2.10"):
            ask()
    assert trace.replay(release="2.10").runs[0].torch == "2.10"
    assert trace.replay(release=2.9, capacity=b"80GiB").runs[0].torch == "2.9"


def test_a_trace_stays_in_its_process(story):
    trace = gpupool.load(story)
    for away in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="load it in the process"):
            away(trace)
    assert copy.copy(trace).suggest().json == trace.suggest().json


@pytest.mark.parametrize("part", ["_answers", "_trace"])
def test_the_examples_of_the_documentation(part, story):
    module = importlib.import_module("gpupool." + part)
    done = doctest.testmod(
        module,
        extraglobs={"TRACE": str(story)},
        optionflags=doctest.ELLIPSIS,
    )
    assert done.attempted and not done.failed


def test_the_page_is_the_command_lines_and_goes_into_a_frame(story):
    page = gpupool.load(story).page(max_split_size_mb=128)
    said = command("page", "-q", "--max-split-mb=128", story).stdout.decode()
    assert page == said
    frame = page._repr_html_()
    assert frame.startswith('<iframe sandbox="allow-scripts" ')
    assert frame.count("<") == 2  # the page is an attribute's text


DOCUMENTS = ["docs/python.md", "python/README.md", "README.md"]


def examples():
    """Python blocks of the documents, except for tests with a GPU."""
    root = pathlib.Path(os.environ["GPUPOOL_ROOT"])
    for name in DOCUMENTS:
        text = (root / name).read_text()
        for code in re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S):
            if "def test_" not in code:
                yield name, code


def test_every_example_of_the_documents_runs(tmp_path):
    (tmp_path / "snapshots").mkdir()
    for name in ("snapshot", "snapshots/rank0", "snapshots/rank1"):
        (tmp_path / (name + ".pickle")).write_bytes(
            gzip.decompress(SNAPSHOT.read_bytes())
        )
    shown = list(examples())
    assert {name for name, _ in shown} >= {DOCUMENTS[0]}
    (tmp_path / "all.py").write_text("\n".join(code for _, code in shown))
    stand_in = pathlib.Path(__file__).parent / "stand_in"
    done = subprocess.run(
        [sys.executable, "all.py"],
        cwd=tmp_path,
        env=dict(
            os.environ,
            PYTHONPATH="{}:{}".format(stand_in, os.environ["PYTHONPATH"]),
        ),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("source", [None, 3, ["a.pickle"], {1, 2}])
def test_what_is_no_source_is_a_type_error(source):
    with pytest.raises(TypeError, match="pass several as several arguments"):
        gpupool.load(source)


def test_a_limit_takes_sizes_as_the_command_line_does(story):
    plugin = importlib.import_module("gpupool.pytest_plugin")
    for size in ("2GiB", "1.5 g", ".5GiB", "2e9", "512kb", 2e9, 1 << 30):
        run = gpupool.load(story).replay(capacity=size).runs[0]
        assert plugin._bytes(size) == run.devices[0].capacity, size


def test_the_version_is_the_programs():
    said = command("version").stdout.decode()
    assert said == "gpupool {}\n".format(gpupool.__version__)


@pytest.mark.parametrize(
    ("struct", "header", "name"),
    [
        ("_Diag", "status.h", "gp_diag"),
        ("_Reply", "ask.h", "gp_reply"),
        ("_Input", "input.h", "gp_input_config"),
        ("_Knob", "knob.h", "gp_knob"),
    ],
)
def test_structs_are_as_the_headers_have_them(struct, header, name):
    root = pathlib.Path(os.environ["GPUPOOL_ROOT"])
    text = (root / "include" / "gpupool" / header).read_text()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    body = re.search(r"struct %s \{\n(.*?)\n\};" % name, text, re.S).group(1)
    body = re.sub(r"\{[^}]*\}", "", body)  # an enum's values
    body = re.sub(r"\(\*(\w+)\)\([^)]*\)", r"\1", body)
    members = [
        re.search(r"(\w+)(\[\d+\])?$", part.strip()).group(1)
        for line in body.split(";")
        for part in line.split(",")
        if part.strip()
    ]
    fields = getattr(importlib.import_module("gpupool._library"), struct)
    assert [field[0] for field in fields._fields_] == members


def test_every_public_name_is_there():
    for name in gpupool.__all__:
        assert getattr(gpupool, name)
    with pytest.raises(AttributeError):
        gpupool.no_such_name
