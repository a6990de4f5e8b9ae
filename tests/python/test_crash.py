# SPDX-License-Identifier: MIT
"""What a program says when memory runs out, on a stand-in for PyTorch."""

import gzip
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from conftest import TRACES

HERE = pathlib.Path(__file__).parent
SNAPSHOT = TRACES / "recorded" / "fsdp-rank0-of-64.default.pickle.gz"


@pytest.fixture(scope="session")
def snapshot(tmp_path_factory):
    path = tmp_path_factory.mktemp("snapshot") / "s.pickle"
    path.write_bytes(gzip.decompress(SNAPSHOT.read_bytes()))
    return path


@pytest.fixture
def job(snapshot, tmp_path):
    """Runs a program in a folder of its own: run(TEXT, NAME=VALUE...)."""

    class Job:
        folder = tmp_path

        def start(self, text, *words, **names):
            program = tmp_path / "train.py"
            # Ranks that are already running may be about to read it.
            if not program.exists() or program.read_text() != text:
                program.write_text(text)
            kept = {
                k: v
                for k, v in os.environ.items()
                if k not in ("RANK", "WORLD_SIZE", "MASTER_PORT")
            }
            path = os.pathsep.join(
                [str(HERE / "stand_in"), os.environ["PYTHONPATH"]]
            )
            return subprocess.Popen(
                [sys.executable, *words, str(program)],
                cwd=tmp_path,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(
                    kept, PYTHONPATH=path, SNAPSHOT=str(snapshot), **names
                ),
                universal_newlines=True,
                # Commands in a background may have been told to ignore the
                # signal.
                preexec_fn=lambda: signal.signal(
                    signal.SIGINT, signal.SIG_DFL
                ),
            )

        def run(self, text, *words, **names):
            process = self.start(text, *words, **names)
            process.out, process.err = process.communicate(timeout=120)
            return process

        def snapshots(self):
            return sorted(p.name for p in tmp_path.glob("gpupool-oom*"))

    return Job()


BEGIN = "import gpupool, torch\ngpupool.install()\n"


def test_the_verdict_follows_the_traceback(job):
    done = job.run(BEGIN + "torch.run_out()\n")
    assert done.returncode == 1 and done.out == ""
    trace, _, told = done.err.partition("\ngpupool: out of GPU memory; ")
    assert trace.rstrip().endswith("Tried to allocate 60.00 MiB.")
    assert "Who holds the" in told and "gpupool explain " in told
    (name,) = job.snapshots()
    assert told.startswith("its snapshot is {}".format(job.folder / name))


def test_the_history_is_bounded(job):
    done = job.run(BEGIN + "print(torch.called)\n")
    assert done.out == "[('record', 'all', 100000)]\n"
    assert done.err == "" and job.snapshots() == []


def test_other_errors_are_as_they_were(job):
    done = job.run(BEGIN + "raise ValueError('x')\n")
    assert done.returncode == 1
    assert "gpupool:" not in done.err and job.snapshots() == []


def test_an_error_that_came_of_it_counts(job):
    done = job.run(
        BEGIN
        + "try:\n    torch.run_out()\n"
        + "except RuntimeError as e:\n    raise ValueError('step') from e\n"
    )
    assert done.err.count("gpupool: out of GPU memory") == 1


def test_who_goes_on_gets_one_line(job):
    done = job.run(
        BEGIN
        + "for i in range(50):\n"
        + "    try:\n        torch.run_out()\n"
        + "    except RuntimeError:\n        pass\n"
        + "print('done', torch.called.count('snapshot') < 20)\n"
    )
    assert done.returncode == 0 and done.out == "done True\n"
    (name,) = job.snapshots()
    assert done.err == (
        "gpupool: memory ran out at train.py:5, and the program went on; "
        "snapshot: {}\n".format(job.folder / name)
    )


def test_the_last_of_several_is_told(job):
    done = job.run(
        BEGIN
        + "try:\n    torch.run_out()\nexcept RuntimeError:\n    pass\n"
        + "torch.run_out()\n"
    )
    assert done.err.count("gpupool: ") == 1
    assert "Who holds the" in done.err


def test_an_interrupt_is_no_lack_of_memory(job):
    done = job.run(
        BEGIN
        + "try:\n    torch.run_out()\n"
        + "except RuntimeError:\n    raise KeyboardInterrupt\n"
    )
    assert "Who holds the" not in done.err


def test_a_hostile_message_is_pythons_to_show(job):
    done = job.run(
        BEGIN
        + "class Worse(torch.OutOfMemoryError):\n"
        + "    def __str__(self): raise SystemError('no')\n"
        + "    __repr__ = __str__\n"
        + "raise Worse()\n"
    )
    assert done.returncode == 1 and "Who holds the" in done.err


@pytest.mark.parametrize("how", ["oom", "error"])
def test_where_no_snapshot_can_be_taken(job, how):
    done = job.run(BEGIN + "torch.run_out()\n", SNAPSHOT_FAILS=how)
    assert done.returncode == 1
    assert done.err.count("gpupool: ") == 1
    assert "the verdict failed" in done.err


def test_the_folder_that_is_named(job):
    done = job.run(
        "import gpupool, torch\ngpupool.install('kept/here')\ntorch.run_out()\n"
    )
    assert "its snapshot is {}/kept/here/".format(job.folder) in done.err


def test_no_folder_takes_the_file(job):
    done = job.run(
        "import gpupool, torch, tempfile\n"
        "gpupool.install('/proc/nowhere')\n"
        "def none(): raise FileNotFoundError('none')\n"
        "tempfile.gettempdir = none\n"
        "torch.run_out()\n"
    )
    assert "no folder takes its snapshot" in done.err
    assert "Who holds the" in done.err and job.snapshots() == []


def test_a_current_folder_that_was_removed(job):
    other = job.folder / "other"
    gone = job.folder / "gone"
    other.mkdir()
    gone.mkdir()
    done = job.run(
        BEGIN
        + "import os\n"
        + "os.chdir({0!r}); os.rmdir({0!r})\n".format(str(gone))
        + "torch.run_out()\n",
        TMPDIR=str(other),
    )
    assert "its snapshot is {}/gpupool-oom-".format(other) in done.err
    assert "Who holds the" in done.err


# A rank that has reported remains until the others have run out, too.
TOGETHER = """
import atexit, os, pathlib, time

def wait():
    pathlib.Path("over-" + os.environ["RANK"]).touch()
    end = time.monotonic() + 60
    while len(list(pathlib.Path().glob("over-*"))) < 3:
        assert time.monotonic() < end
        time.sleep(0.05)

atexit.register(wait)
"""


def test_ranks_have_a_file_each_and_one_speaks(job):
    text = BEGIN + TOGETHER + "torch.run_out()\n"
    ranks = [
        job.start(text, RANK=str(i), WORLD_SIZE="3", MASTER_PORT="1")
        for i in range(3)
    ]
    said = [rank.communicate(timeout=120)[1] for rank in ranks]
    assert sum("Who holds the" in text for text in said) == 1
    assert [name.split("-")[2] for name in job.snapshots()] == [
        "rank0",
        "rank1",
        "rank2",
    ]
    for i, text in enumerate(said):
        assert "gpupool: rank {}: out of GPU memory".format(i) in text


def test_a_fork_leaves_its_parents_alone(job):
    done = job.run(
        BEGIN
        + "import os\n"
        + "if not os.fork():\n    torch.run_out()\n"
        + "os.wait()\n"
    )
    assert "Who holds the" not in done.err and done.returncode == 0


def test_a_thread_that_runs_out(job):
    done = job.run(
        BEGIN
        + "import threading\n"
        + "t = threading.Thread(target=torch.run_out)\nt.start()\nt.join()\n"
    )
    assert done.returncode == 0 and "Who holds the" in done.err


def test_threads_that_run_out_together_tell_once(job):
    done = job.run(
        BEGIN
        + "import gpupool.crash as crash, threading, time\n"
        + "real = crash._write\n"
        + "def slow(data):\n    time.sleep(0.1)\n    real(data)\n"
        + "crash._write = slow\n"
        + "ts = [threading.Thread(target=torch.run_out) for _ in range(6)]\n"
        + "[t.start() for t in ts]\n[t.join() for t in ts]\n"
    )
    assert done.returncode == 0 and done.err.count("Who holds the") == 1
    (name,) = job.snapshots()
    assert name.endswith(".pickle")


def test_an_error_while_handling_it_with_a_cause_of_its_own(job):
    done = job.run(
        BEGIN
        + "try:\n    torch.run_out()\n"
        + "except RuntimeError:\n    raise ValueError('x') from KeyError('y')\n"
    )
    assert "Who holds the" in done.err and "went on" not in done.err


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python has no groups")
def test_one_of_many_of_a_group(job):
    done = job.run(
        BEGIN
        + "try:\n    torch.run_out()\n"
        + "except RuntimeError as e:\n    first = e\n"
        + "raise ExceptionGroup('all', [first, *map(ValueError, range(99))])\n"
    )
    assert "Who holds the" in done.err and "went on" not in done.err


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python has no groups")
def test_one_of_a_group_of_errors(job):
    done = job.run(
        BEGIN
        + "import asyncio\n"
        + "async def step(): torch.run_out()\n"
        + "async def main():\n"
        + "    async with asyncio.TaskGroup() as group:\n"
        + "        group.create_task(step())\n"
        + "asyncio.run(main())\n"
    )
    assert done.returncode == 1
    assert "Who holds the" in done.err and "went on" not in done.err


# torch.multiprocessing turns each error into an exit.
@pytest.mark.parametrize(
    "step",
    [
        "torch.run_out()",
        "try:\n        torch.run_out()\n    except Exception: sys.exit(1)",
    ],
)
@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_a_child_of_multiprocessing(job, how, step):
    done = job.run(
        "import gpupool, torch, sys, multiprocessing\n"
        + "def step():\n    gpupool.install()\n    {}\n".format(step)
        + "if __name__ == '__main__':\n"
        + "    gpupool.install()\n"
        + "    context = multiprocessing.get_context({!r})\n".format(how)
        + "    child = context.Process(target=step)\n"
        + "    child.start()\n    child.join()\n    print(child.exitcode)\n"
    )
    assert done.out == "1\n" and done.err.count("Who holds the") == 1
    assert "went on" not in done.err


POOLS = {
    "pool": "with context.Pool(1, gpupool.install) as pool:\n"
    "        pool.map(step, [1])\n",
    "executor": "with concurrent.futures.ProcessPoolExecutor(\n"
    "        1, context, gpupool.install\n"
    "    ) as pool:\n"
    "        list(pool.map(step, [1]))\n",
}


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_a_worker_of_a_pool(job, how, pool):
    # The parent has nothing of its own to report.
    done = job.run(
        "import gpupool, torch, multiprocessing, concurrent.futures\n"
        + "def step(i): torch.run_out()\n"
        + "if __name__ == '__main__':\n"
        + "    gpupool.install()\n"
        + "    context = multiprocessing.get_context({!r})\n".format(how)
        + "    "
        + POOLS[pool]
    )
    assert done.returncode == 1 and "Who holds the" not in done.err
    (name,) = job.snapshots()
    assert done.err.endswith(
        "gpupool: memory ran out in another process; if gpupool.install() was "
        "called there, its snapshot is in {}\n".format(job.folder)
    )
    # A pool's workers may be killed; an executor's end by themselves.
    said = done.err.count("went on; snapshot: {}".format(job.folder / name))
    assert said == 1 or pool == "pool" and not said


def test_a_fork_has_a_verdict_of_its_own(job):
    done = job.run(
        BEGIN
        + "import multiprocessing, threading\n"
        + "t = threading.Thread(target=torch.run_out)\nt.start()\nt.join()\n"
        + "def step():\n    gpupool.install()\n    torch.run_out()\n"
        + "context = multiprocessing.get_context('fork')\n"
        + "child = context.Process(target=step)\n"
        + "child.start()\nchild.join()\n"
    )
    assert done.err.count("Who holds the") == 2
    assert len(job.snapshots()) == 2


def test_a_thread_that_the_exit_overtakes(job):
    done = job.run(
        BEGIN
        + "import gpupool.crash as crash, threading, time\n"
        + "taking = threading.Event()\n"
        + "crash._take = lambda: (taking.set(), time.sleep(60))\n"
        + "t = threading.Thread(target=torch.run_out, daemon=True)\n"
        + "t.start()\ntaking.wait(60)\n"
    )
    assert done.err.startswith("gpupool: memory ran out at ")
    assert done.err.endswith("went on; there is no snapshot\n")


def test_installing_twice_is_once(job):
    done = job.run(BEGIN + "gpupool.install()\ntorch.run_out()\n")
    assert done.err.count("Who holds the") == 1


def test_a_hook_that_was_there_is_called(job):
    done = job.run(
        "import sys\nsys.excepthook = lambda *a: print('mine')\n"
        + BEGIN
        + "torch.run_out()\n"
    )
    assert done.out == "mine\n" and "Who holds the" in done.err


def test_a_hook_that_takes_the_place_of_ours(job):
    done = job.run(
        BEGIN
        + "import sys\nsys.excepthook = lambda *a: print('mine')\n"
        + "torch.run_out()\n"
    )
    assert done.out == "mine\n" and "Who holds the" in done.err
    assert "went on" not in done.err


def test_an_interrupted_verdict_ends_the_program(job):
    done = job.start(
        BEGIN
        + "import gpupool.crash, sys, time\n"
        + "def slow(*a):\n    print('now', flush=True)\n    time.sleep(60)\n"
        + "gpupool.crash._verdict = slow\n"
        + "torch.run_out()\n"
    )
    assert done.stdout.readline() == "now\n"
    began = time.monotonic()
    done.send_signal(signal.SIGINT)
    done.communicate(timeout=30)
    assert done.returncode != 0 and time.monotonic() - began < 30


@pytest.mark.parametrize("part", ["_verdict", "_write"])
def test_a_launcher_that_ends_the_job_waits_for_it(job, part):
    # torchrun ends every rank, and the processes it started, when one has
    # failed.
    done = job.run(
        "import os\nos.setsid()\n"
        + BEGIN
        + "import gpupool.crash as crash, signal\n"
        + "real = crash.{}\n".format(part)
        + "def late(*a):\n    os.killpg(0, signal.SIGTERM)\n"
        + "    return real(*a)\n"
        + "crash.{} = late\n".format(part)
        + "torch.run_out()\n"
    )
    assert done.returncode == -signal.SIGTERM
    (name,) = job.snapshots()
    assert name.endswith(".pickle")
    assert part == "_write" or "Who holds the" in done.err


def test_without_pytorch_it_says_so(tmp_path):
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; sys.modules['torch'] = None\n"
            "import gpupool; print(gpupool.install())",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )
    assert done.stdout == "False\n"
    assert done.stderr.startswith("gpupool: PyTorch cannot be imported: ")


def test_cells_of_a_notebook(job):
    pytest.importorskip("IPython")
    done = job.run(
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "shell.run_cell('import gpupool, torch; x = gpupool.install()')\n"
        "shell.run_cell('torch.run_out()')\n"
        "shell.run_cell('1')\n"
        "shell.run_cell('torch.run_out()')\n"
    )
    assert done.err.count("Who holds the") == 2
    assert "went on" not in done.err


# ---- python -m gpupool.watch ----


def test_watch_is_as_python_is(job):
    text = (
        "import sys, torch\n"
        "print(__name__, sys.argv[1:], sys.path[0], __file__)\n"
        "torch.run_out()\n"
    )
    plain = job.run(text)
    watched = job.run(text, "-m", "gpupool.watch")
    assert watched.out == plain.out
    assert watched.returncode == plain.returncode
    assert watched.err.startswith(plain.err)
    assert "Who holds the" in watched.err


def test_watch_of_what_is_no_python(job):
    plain = job.run("def (\n")
    watched = job.run("def (\n", "-m", "gpupool.watch")
    assert (watched.returncode, watched.err) == (plain.returncode, plain.err)


def test_watch_keeps_the_exit_status(job):
    done = job.run("import sys\nsys.exit(7)\n", "-m", "gpupool.watch")
    assert done.returncode == 7 and done.err == ""


def test_watch_of_a_module(job):
    (job.folder / "step.py").write_text("import torch\ntorch.run_out()\n")
    done = job.run("", "-m", "gpupool.watch", "-m", "step")
    assert 'step.py", line 2' in done.err and "Who holds the" in done.err
    assert "runpy" not in done.err


@pytest.mark.parametrize("words", [[], ["--folder", "x"], ["/no/such.py"]])
def test_watch_says_what_it_wants(words):
    done = subprocess.run(
        [sys.executable, "-m", "gpupool.watch", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )
    assert done.returncode != 0 and done.stdout == ""
    assert "usage: " in done.stderr or "no such file" in done.stderr
