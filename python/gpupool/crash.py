# SPDX-License-Identifier: MIT
"""What a training script says when it runs out of GPU memory.

install() has PyTorch keep the history of its allocator.  At the first
OutOfMemoryError the snapshot is written; if that error ends the program, the
verdict follows the traceback: what happened, who holds the memory, the line to
paste and where the file is.

Nothing here raises into the program, and nothing costs it time before memory
has run out, but for what PyTorch's own history costs.
"""

import atexit
import contextlib
import errno
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any, Callable, Iterator, List, Optional, Set, Tuple

from gpupool import _native

ENTRIES = 100000  # of the history; a step of a large model has some thousand
_TIME_LIMIT = 120  # seconds for the verdict

# What a child must not be run on: the recorder's libraries.
_NOT_FOR_CHILDREN = ("LD_PRELOAD",)


class _State:
    """Of this process; there is one."""

    def __init__(self) -> None:
        self.process = 0  # that installed it: a fork has its parent's
        self.folder: Optional[str] = None
        self.entries = ENTRIES
        self.rank: Optional[int] = None
        self.mark: Optional[socket.socket] = None  # held: this rank speaks
        self.begin()

    def begin(self) -> None:
        """In a fork, too: what its parent did is not its own."""
        self.lock = threading.Lock()
        self.is_busy = False  # writing a snapshot: what fails then is ours
        self.taking = threading.RLock()  # several threads may tell
        self.path = ""  # of the snapshot
        self.data = b""  # the snapshot, where no folder takes it
        self.where = ""  # of the first one: "train.py:20 step"
        self.seconds = 0.0  # that snapshots took
        self.last = 0.0  # when the last one was taken
        self.is_stale = False  # memory ran out again since
        self.is_told = False


_state = _State()


def _torch() -> Any:
    return sys.modules.get("torch")


def _say(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except Exception:
        pass


# ---- ranks ----


def _first_number(names: Tuple[str, ...]) -> Optional[int]:
    for name in names:
        value = os.environ.get(name, "")
        if value.isdecimal():
            return int(value)
    return None


def _rank() -> Optional[int]:
    """Which of several processes of a job this is; None: the only one."""
    if _state.rank is not None:
        return _state.rank
    world = _first_number(
        ("WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE")
    )
    if not world or world < 2:
        return None
    return _first_number(
        ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "LOCAL_RANK")
    )


def _job() -> str:
    """What the ranks on this machine have in common, and no other job has."""
    parent = os.getppid()
    try:
        with open("/proc/{}/stat".format(parent), "rb") as file:
            began = file.read().rpartition(b")")[2].split()[19].decode()
    except (OSError, IndexError):
        began = ""
    words = [str(os.getuid()), str(parent), began]
    words += [
        os.environ.get(name, "")
        for name in ("MASTER_PORT", "TORCHELASTIC_RESTART_COUNT")
    ]
    return "".join(c if c.isalnum() else "-" for c in "-".join(words))


def _is_speaker() -> bool:
    """Whether this rank tells the verdict: the first on this machine does.

    The first has the job's name among sockets, where no file is left behind
    and nothing need be writable.
    """
    if _rank() is None:
        return True
    if _state.mark is not None:
        return True
    mark = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        mark.bind("\0gpupool-{}".format(_job()))
    except OSError as error:
        mark.close()
        return error.errno != errno.EADDRINUSE
    _state.mark = mark
    return True


@contextlib.contextmanager
def _held_term() -> Iterator[None]:
    """SIGTERM waits until this is done: torchrun sends it to all ranks as soon
    as one has ended."""
    came: List[int] = []
    before = signal.getsignal(signal.SIGTERM)
    is_main = threading.current_thread() is threading.main_thread()
    if before is None or not is_main:
        yield  # it could not be put back, or not be held
        return
    signal.signal(signal.SIGTERM, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        if came:
            os.kill(os.getpid(), signal.SIGTERM)


# ---- the snapshot ----


def _folders() -> List[str]:
    """Where the file may go, the best first."""
    folders = [_state.folder] if _state.folder else []
    here = [] if folders else [os.getcwd]
    for find in [*here, tempfile.gettempdir]:
        try:
            folders.append(find())
        except OSError:
            pass  # removed meanwhile, or none can be written to
    return folders


def _name() -> str:
    rank = _rank()
    return "gpupool-oom{}-{}.pickle".format(
        "" if rank is None else "-rank{}".format(rank), os.getpid()
    )


def _write(data: bytes) -> None:
    """Into the first folder that takes it, whole or not at all."""
    for folder in [os.path.dirname(_state.path), *_folders()]:
        if not folder:
            continue
        path = os.path.join(folder, _name())
        part = path + ".part"
        try:
            os.makedirs(folder, exist_ok=True)
            with open(part, "wb") as file:
                file.write(data)
            os.replace(part, path)
        except OSError:
            try:
                os.unlink(part)
            except OSError:
                pass
            continue
        _state.path = path
        _state.data = b""
        return
    _state.path = ""
    _state.data = data


def _take() -> None:
    """Takes a snapshot and writes it."""
    torch = _torch()
    with _state.taking:
        began = time.monotonic()
        snapshot = torch.cuda.memory._snapshot()
        _write(pickle.dumps(snapshot, protocol=4))
        _state.last = time.monotonic()
        _state.seconds += _state.last - began
        _state.is_stale = False


def _is_affordable() -> bool:
    """Programs that try until it fits run out of memory many times: snapshots
    may take a twentieth of the time since the last."""
    now = time.monotonic()
    return not _state.last or now - _state.last > 20 * _state.seconds


def _is_installed(file: str) -> bool:
    """Whether it is a package's, or PyTorch's wherever that is."""
    torch = os.path.dirname(getattr(_torch(), "__file__", None) or "")
    return (
        "site-packages" in file
        or "dist-packages" in file
        or bool(torch)
        and file.startswith(torch + os.sep)
    )


def _site() -> str:
    """The program's own line: the innermost outside of installed packages."""
    here = os.path.dirname(os.path.abspath(__file__))
    frame: Any = sys._getframe(1)
    best = ""
    while frame is not None:
        file = frame.f_code.co_filename
        if file[:1] != "<" and os.path.dirname(os.path.abspath(file)) != here:
            site = "{}:{}".format(os.path.basename(file), frame.f_lineno)
            if not _is_installed(file):
                return site
            best = best or site
        frame = frame.f_back
    return best


def _on_out_of_memory(*_: Any) -> None:
    """PyTorch calls it where memory ran out, before it raises."""
    if _state.process != os.getpid():
        return
    with _state.lock:
        if _state.is_busy:
            return
        _state.is_busy = True
    try:
        _state.is_stale = True
        if not _state.where:
            _state.where = _site()
        if _is_affordable():
            with _held_term():
                _take()
    except Exception:
        pass
    finally:
        _state.is_busy = False


# ---- the verdict ----


_MOST_ERRORS = 10000  # looked through


def _out_of_memory(error: Optional[BaseException]) -> Optional[BaseException]:
    """The error, one of a group, or what it was raised from or while
    handling; None: it has nothing to do with memory."""
    torch = _torch()
    kind = getattr(getattr(torch, "cuda", None), "OutOfMemoryError", None)
    if kind is None:
        return None
    left: List[Optional[BaseException]] = [error]
    seen: Set[int] = set()
    while left and len(seen) < _MOST_ERRORS:
        one = left.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        is_it = isinstance(one, kind)
        if is_it:
            return one
        if isinstance(one, (KeyboardInterrupt, SystemExit, GeneratorExit)):
            continue
        left += [one.__cause__, one.__context__]
        left += getattr(one, "exceptions", ())
    return None


def _is_of_worker(error: BaseException) -> bool:
    """Whether a pool of processes, or joblib, handed it over."""
    cause = type(error.__cause__).__name__
    return cause in ("RemoteTraceback", "_RemoteTraceback")


def _environment() -> "dict[str, str]":
    return {k: v for k, v in os.environ.items() if k not in _NOT_FOR_CHILDREN}


def _verdict(path: str, data: bytes) -> Tuple[bool, str]:
    """What gpupool look says, and whether it is a verdict."""
    words = [_native.program(), "look", "--color=never", "-q"]
    try:
        done = subprocess.run(
            [*words, "--", path or "-"],
            input=None if path else data,
            stdin=subprocess.DEVNULL if path else None,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(),
            timeout=_TIME_LIMIT,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        return False, "no verdict within {} s".format(_TIME_LIMIT)
    except OSError as error:
        return False, "no verdict: {}".format(error)
    text = done.stdout.decode("utf-8", "replace")
    said = done.stderr.decode("utf-8", "replace").strip()
    return bool(text), text.rstrip() or said


def _tell_of_worker() -> None:
    folders = _folders()
    _say(
        "gpupool: memory ran out in another process; if gpupool.install() was "
        "called there, its snapshot is in {}\n".format(
            folders[0] if folders else "its folder"
        )
    )


def _tell() -> None:
    if _state.is_stale or not (_state.path or _state.data):
        _take()
    path, rank = _state.path, _rank()
    who = "gpupool: " if rank is None else "gpupool: rank {}: ".format(rank)
    kept = (
        "its snapshot is {}".format(path)
        if path
        else "no folder takes its \
snapshot"
    )
    if not _is_speaker():
        _say("{}out of GPU memory; {}\n".format(who, kept))
        return
    _, text = _verdict(path, _state.data)
    _say("\n{}out of GPU memory; {}\n\n{}\n".format(who, kept, text))


def tell(error: Optional[BaseException]) -> None:
    """Tells the verdict if this error is that memory ran out: once.

    For frameworks that hand an error to a callback; otherwise
    sys.excepthook does it.
    """
    if _state.process != os.getpid() or _state.is_told:
        return
    try:
        found = _out_of_memory(error)
        if found is None:
            return
        with _state.lock:
            if _state.is_told:
                return
            _state.is_told = True
        if _is_of_worker(found):
            _tell_of_worker()
            return
        with _held_term():
            _tell()
    except Exception as trouble:
        _say("gpupool: the verdict failed: {!r}\n".format(trouble))


def tell_in_child(error: Optional[BaseException]) -> None:
    """The same in a child of multiprocessing's, which calls no excepthook."""
    processes = sys.modules.get("multiprocessing")
    if processes is not None and processes.parent_process() is not None:
        tell(error)


def _on_child_exit() -> None:
    """In a child of multiprocessing's, while the error that ends it goes up;
    torch.multiprocessing has made an exit of it."""
    error = sys.exc_info()[1]
    if isinstance(error, SystemExit) and error.code:
        error = error.__context__
    tell(error)
    _on_exit()  # a pool's worker went on, and has no exit of Python's


def _on_exit() -> None:
    """The program went on after memory ran out: one line, once."""
    if _state.process != os.getpid() or not _state.where:
        return
    # What ended it, where another has put its own sys.excepthook over ours.
    tell(getattr(sys, "last_value", None))
    if _state.is_told:
        return
    _state.is_told = True
    kept = "snapshot: " + _state.path if _state.path else "there is no snapshot"
    _say(
        "gpupool: memory ran out at {}, and the program went on; {}\n".format(
            _state.where, kept
        )
    )


# ---- installing ----


def _record_history() -> None:
    """As releases from 2.0 on take it, unless the program has begun one."""
    torch = _torch()
    is_on = getattr(torch._C, "_cuda_isHistoryEnabled", None)
    if is_on is None or not is_on():
        record = torch.cuda.memory._record_memory_history
        try:
            record("all", stacks="python", max_entries=_state.entries)
        except TypeError:
            record(True, trace_alloc_max_entries=_state.entries)


def _attach() -> None:
    """When CUDA is there, and not before: it may not be started early."""
    try:
        _record_history()
    except Exception as error:
        _say("gpupool: PyTorch records no history: {}\n".format(error))
    try:
        _torch()._C._cuda_attach_out_of_memory_observer(_on_out_of_memory)
    except Exception:
        pass  # sys.excepthook tells as well


def _after(hook: Callable[..., Any], error_of: Callable[..., Any]) -> Any:
    """A hook that does what it did, and then tells."""

    def both(*arguments: Any) -> Any:
        try:
            return hook(*arguments)
        finally:
            tell(error_of(*arguments))

    return both


def _hook_notebook() -> None:
    """IPython shows errors itself, and calls no excepthook."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module else None
    if shell is not None:
        shell.events.register(
            "post_run_cell", lambda result: _tell_cell(result.error_in_exec)
        )


def _tell_cell(error: Optional[BaseException]) -> None:
    tell(error)
    if _state.is_told:
        # The next cell may run out again, and that it went on is no news.
        _state.is_told = False
        _state.where = ""


def install(
    folder: "Optional[str | os.PathLike[str]]" = None,
    entries: int = ENTRIES,
    rank: Optional[int] = None,
) -> bool:
    """Says what happened when this process runs out of GPU memory.

    folder   where the snapshot goes: the current folder unless given
    entries  how many events of the allocator PyTorch keeps
    rank     which of a job's processes this is, where the environment
             does not say so

    Returns whether PyTorch is there.  A second call changes the folder and
    the rank, and nothing else.
    """
    if rank is not None:
        _state.rank = rank
    if folder is not None:
        _state.folder = os.path.abspath(os.fspath(folder))
    if _state.process == os.getpid():
        return True
    try:
        import torch
    except Exception as error:
        _say("gpupool: PyTorch cannot be imported: {}\n".format(error))
        return False
    is_first = not _state.process
    if not is_first:
        _state.begin()
    _state.process = os.getpid()
    _state.entries = entries
    _hook_child()
    if is_first:
        _hook()
        try:
            torch.cuda._lazy_call(_attach)
        except Exception as error:
            _say("gpupool: PyTorch records no history: {}\n".format(error))
    return True


def _hook_child() -> None:
    """multiprocessing shows errors of its children itself."""
    processes = sys.modules.get("multiprocessing")
    if processes is not None and processes.parent_process() is not None:
        from multiprocessing.util import Finalize

        Finalize(None, _on_child_exit, exitpriority=10)


def _hook() -> None:
    sys.excepthook = _after(sys.excepthook, lambda _t, error, _b: error)
    threading.excepthook = _after(
        threading.excepthook, lambda arguments: arguments.exc_value
    )
    atexit.register(_on_exit)
    try:
        _hook_notebook()
    except Exception:
        pass
