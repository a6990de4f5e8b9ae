# SPDX-License-Identifier: MIT
"""The crash and the limit with the real packages, under gpupool record."""

import json
import os
import subprocess

import gpupool
import pytest
from gpupool import _native

PYTHON = os.environ.get("TORCH_PYTHON", "")


@pytest.fixture(autouse=True)
def _is_there(request):
    """Skips the test if TORCH_PYTHON lacks a package with which it is
    marked."""
    if not PYTHON:
        pytest.skip("no PyTorch: TORCH_PYTHON names a python that has it")
    for mark in request.node.iter_markers("with_package"):
        done = subprocess.run(
            [PYTHON, "-c", "import " + mark.args[0]],
            stderr=subprocess.PIPE,
        )
        if done.returncode:
            pytest.skip("TORCH_PYTHON has no {}".format(mark.args[0]))


@pytest.fixture
def recorded(tmp_path):
    """Runs a program on a device of 256 MiB."""

    def run(text, *words, devices=1):
        (tmp_path / "train.py").write_text(text)
        return subprocess.run(
            [
                _native.program(),
                "record",
                "-q",
                "--capacity=256MiB",
                "--devices={}".format(devices),
                "-o",
                "trace.json",
                "--",
                PYTHON,
                *words,
                "train.py",
            ],
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
        )

    return run


def verdict(done, folder):
    """Checks the messages, and returns the snapshot."""
    assert done.returncode, done.err
    assert done.stderr.count("gpupool: out of GPU memory") == 1, done.stderr
    before, _, after = done.stderr.partition("gpupool: out of GPU memory")
    assert "OutOfMemoryError" in before
    assert "Who holds the" in after and "train.py:" in after
    (path,) = folder.glob("gpupool-oom*.pickle")
    return gpupool.load(path)


HOLD = """
import torch
def hold():
    kept = []
    while True:
        kept.append(torch.empty(16 << 20, dtype=torch.uint8, device="cuda"))
"""


def test_a_crash_of_pytorchs(recorded, tmp_path):
    done = recorded(HOLD + "import gpupool\ngpupool.install()\nhold()\n")
    trace = verdict(done, tmp_path)
    assert trace.look().out_of_memory
    fidelity = trace.look().fidelity
    assert fidelity.checked == fidelity.matched == 16


def test_watch_on_pytorch(recorded, tmp_path):
    done = recorded(HOLD + "hold()\n", "-m", "gpupool.watch")
    verdict(done, tmp_path)
    assert 'train.py", line 6' in done.stderr
    assert "watch.py" not in done.stderr


def test_a_fork_may_begin_cuda_after_install(recorded):
    done = recorded(
        "import gpupool, torch, os\n"
        "gpupool.install()\n"
        "if not os.fork():\n"
        "    torch.ones(1, device='cuda')\n"
        "    os._exit(3)\n"
        "print(os.WEXITSTATUS(os.wait()[1]))\n"
    )
    assert done.stdout == "3\n"


def test_ranks_of_torchrun(recorded, tmp_path):
    # All run out of memory; when the first one ends, torchrun ends the others.
    text = "import gpupool, os\ngpupool.install()\n" + HOLD
    text += "torch.cuda.set_device(int(os.environ['LOCAL_RANK']))\n"
    text += "torch.distributed.init_process_group('nccl')\nhold()\n"
    words = ["-m", "torch.distributed.run", "--nproc-per-node=2"]
    done = recorded(text, *words, devices=2)
    assert done.returncode
    assert done.stderr.count("Who holds the") == 1, done.stderr
    paths = sorted(tmp_path.glob("gpupool-oom*"))
    ranks = [path.name.split("-")[2] for path in paths]
    assert set(ranks) <= {"rank0", "rank1"} and len(ranks) in (1, 2)
    assert gpupool.load(*paths).look().out_of_memory
    # The output of record: a trace of each.
    kept = [tmp_path / "trace.{}.json".format(i) for i in (1, 2)]
    assert gpupool.load(*kept).look()


MODEL = """
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)
    def forward(self, x=None, labels=None):
        hold()
"""

LIGHTNING = """
import lightning.pytorch as pl
from gpupool.lightning import MemoryCallback
class Module(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)
    def training_step(self, batch, i):
        hold()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)
    def train_dataloader(self):
        return torch.utils.data.DataLoader(torch.ones(4, 8))
pl.Trainer(accelerator="gpu", devices=1, max_epochs=1, logger=False,
           enable_checkpointing=False, enable_progress_bar=False,
           enable_model_summary=False,
           callbacks=[MemoryCallback()]).fit(Module())
"""

TRANSFORMERS = """
from transformers import Trainer, TrainingArguments
from gpupool.transformers import MemoryCallback
data = [{"x": torch.ones(8), "labels": torch.ones(1)}] * 4
Trainer(Model(), TrainingArguments("out", report_to=[], save_strategy="no",
                                   disable_tqdm=True),
        train_dataset=data, callbacks=[MemoryCallback()]).train()
"""

ACCELERATE = """
import accelerate
from gpupool.accelerate import watch
accelerator = accelerate.Accelerator()
with watch(accelerator):
    model = accelerator.prepare(Model())
    model(torch.ones(8, device=accelerator.device))
"""


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            HOLD + LIGHTNING,
            id="lightning",
            marks=pytest.mark.with_package("lightning"),
        ),
        pytest.param(
            HOLD + MODEL + TRANSFORMERS,
            id="transformers",
            marks=pytest.mark.with_package("transformers"),
        ),
        pytest.param(
            HOLD + MODEL + ACCELERATE,
            id="accelerate",
            marks=pytest.mark.with_package("accelerate"),
        ),
    ],
)
def test_a_framework(recorded, tmp_path, text):
    verdict(recorded(text), tmp_path)


LIMITS = """
import os, pytest, torch
def layer(mib):
    return torch.empty(mib << 20, dtype=torch.uint8, device="cuda")
def test_within(gpu_memory):
    with gpu_memory.limit(reserved="200MiB") as used:
        layer(100)
    assert used.reserved == used.allocated == 100 << 20
def test_above(gpu_memory):
    with gpu_memory.limit(reserved="200MiB"):
        kept = layer(100)
        more = layer(150)
def test_settings(gpu_memory):
    # The pages of expandable segments are of 20 MiB.
    for settings, most in (("", 30), ("expandable_segments:True", 40)):
        with gpu_memory.limit(settings=settings) as used:
            layer(30)
        assert used.reserved == most << 20
def test_wrong_settings(gpu_memory):
    with gpu_memory.limit(reserved="2GiB", settings="max_split_size_mb:1"):
        layer(3)
def test_nested(gpu_memory):
    with gpu_memory.limit(reserved="100MiB"):
        kept = layer(150)
        with gpu_memory.limit(reserved="300MiB"):
            layer(10)
def test_ends_the_history(gpu_memory):
    with gpu_memory.limit(reserved="100MiB"):
        torch.cuda.memory._record_memory_history(None)
        layer(150)
def test_asks_for_nothing(gpu_memory):
    kept = layer(150)
    with gpu_memory.limit(reserved="200MiB") as used:
        pass
    assert used.reserved == used.allocated == 150 << 20
    with gpu_memory.limit(reserved="100MiB"):
        pass
def test_own_failure(gpu_memory):
    with gpu_memory.limit(reserved="2GiB"):
        print("captured")
        assert layer(3) is None
def test_as_it_was_asked_for(gpu_memory, request):
    assert request.config.getoption("--model").name == "a big one"
    assert os.path.basename(os.getcwd()) == "from here"
def test_sizes(gpu_memory):
    for size in ("2.3.4GiB", -1, True, ""):
        with pytest.raises(ValueError, match="is not a size such as 2GiB"):
            gpu_memory.limit(reserved=size)
def test_without_the_fixture():
    assert not torch.cuda.is_available()
"""

# The type of a value is stored as well.
OPTIONS = """
import pathlib
def pytest_addoption(parser):
    parser.addoption("--model", type=pathlib.Path)
"""


@pytest.mark.with_package("pytest")
def test_limits(tmp_path):
    (tmp_path / "test_limits.py").write_text(LIMITS)
    (tmp_path / "conftest.py").write_text(OPTIONS)
    (tmp_path / "from here").mkdir()
    words = "-q -p gpupool.pytest_plugin -rA --junitxml report.xml --model"
    done = subprocess.run(
        [PYTHON, "-m", "pytest", *words.split(), "a big one", ".."],
        cwd=tmp_path / "from here",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
    )
    assert "6 failed, 5 passed" in done.stdout, done.stdout
    for name in ("within", "settings", "without_the_fixture"):
        assert "PASSED ../test_limits.py::test_" + name in done.stdout
    assert (
        "reserved memory went 50.00 MiB above its limit of 200.00 MiB: "
        "{}/test_limits.py:4 layer asked for 150.00 MiB".format(tmp_path.name)
        in done.stdout
    )
    assert "gpu_memory: settings: CachingAllocator option" in done.stdout
    for said in (
        "gpu_memory: a limit within a limit: PyTorch keeps one history",
        "gpu_memory: the block ended PyTorch's history",
        "reserved memory was 50.00 MiB above its limit of 100.00 MiB before",
    ):
        assert said in done.stdout
    assert "During handling" not in done.stdout
    assert "captured" in done.stdout
    report = (tmp_path / "from here/report.xml").read_text()
    assert report.count("<testcase ") == 11, report


@pytest.mark.with_package("pytest")
def test_a_test_that_ends_the_process(tmp_path):
    (tmp_path / "test_end.py").write_text(
        "import os\n"
        "def test_ends(gpu_memory):\n    os._exit(9)\n"
        "def test_other():\n    pass\n"
    )
    done = subprocess.run(
        [PYTHON, "-m", "pytest", "-q", "-p", "gpupool.pytest_plugin"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
    )
    assert "1 failed, 1 passed" in done.stdout, done.stdout
    assert "it did not end under gpupool record" in done.stdout


def test_a_recorded_trace_is_loaded(recorded, tmp_path):
    recorded("import torch\nkept = torch.ones(9, device='cuda')\n")
    trace = gpupool.load(tmp_path / "trace.json")
    assert json.loads(trace.info().json)["devices"][0]["event_count"] >= 1
