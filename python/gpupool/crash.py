# SPDX-License-Identifier: MIT
"""Reports what happened when a training script runs out of GPU memory.

install() has PyTorch keep the history of its allocator. A snapshot is written
at the first OutOfMemoryError. If that error ends the program, the verdict
follows the traceback: what happened, who holds the memory, the line to paste,
and where the snapshot is.

Nothing here raises an exception in the program, and nothing takes its time
before memory has run out, apart from PyTorch's own history.
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

ENTRIES = 100000  # in the history; a step of a large model has some thousands
_TIME_LIMIT = 120  # seconds for the verdict

# Not passed to child processes: the recorder's libraries.
_NOT_FOR_CHILDREN = ("LD_PRELOAD",)


class _State:
    """The state of this process."""

    def __init__(self) -> None:
        self.process = 0  # the process that installed it; differs in a fork
        self.folder: Optional[str] = None
        self.entries = ENTRIES
        self.rank: Optional[int] = None
        self.mark: Optional[socket.socket] = None  # this rank speaks
        self.begin()

    def begin(self) -> None:
        """Also called in a fork, which must not repeat what its parent did."""
        self.lock = threading.Lock()
        self.is_busy = False  # writing a snapshot: an error now is our own
        self.taking = threading.RLock()  # several threads may print the verdict
        self.path = ""  # of the snapshot
        self.data = b""  # the snapshot, if it could not be written
        self.where = ""  # of the first error: "train.py:20 step"
        self.seconds = 0.0  # spent on snapshots
        self.last = 0.0  # when the last one was taken
        self.is_stale = False  # memory has run out again since then
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
    """Which process of a job this is; None: the only one."""
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
    """A text that is the same for the ranks on this machine, and differs for
    other jobs."""
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
    """Whether this rank prints the verdict: the first one on this machine does.

    It binds an abstract socket with the job's name, which leaves no file behind
    and needs no writable folder.
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
    """Delays SIGTERM until the block is done: torchrun sends it to all ranks as
    soon as one has ended."""
    came: List[int] = []
    before = signal.getsignal(signal.SIGTERM)
    is_main = threading.current_thread() is threading.main_thread()
    if before is None or not is_main:
        yield  # it could not be restored, or not be set from here
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
    """The folders for the snapshot, the preferred one first."""
    folders = [_state.folder] if _state.folder else []
    here = [] if folders else [os.getcwd]
    for find in [*here, tempfile.gettempdir]:
        try:
            folders.append(find())
        except OSError:
            pass  # deleted meanwhile, or none is writable
    return folders


def _name() -> str:
    rank = _rank()
    return "gpupool-oom{}-{}.pickle".format(
        "" if rank is None else "-rank{}".format(rank), os.getpid()
    )


def _write(data: bytes) -> None:
    """Writes the whole snapshot to the first folder where this is possible."""
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
    """Whether a snapshot may be taken now. Programs that retry until they fit
    run out of memory many times, so snapshots may take only a twentieth of the
    time since the last one."""
    now = time.monotonic()
    return not _state.last or now - _state.last > 20 * _state.seconds


def _is_installed(file: str) -> bool:
    """Whether the file belongs to an installed package, or to PyTorch."""
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
    """PyTorch calls it when memory has run out, before it raises the error."""
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


_MOST_ERRORS = 10000  # are searched


def _out_of_memory(error: Optional[BaseException]) -> Optional[BaseException]:
    """Finds an out-of-memory error: the error itself, one in a group, or one
    that led to it; None: there is none."""
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
    """Whether a pool of processes, or joblib, passed the error on."""
    cause = type(error.__cause__).__name__
    return cause in ("RemoteTraceback", "_RemoteTraceback")


def _environment() -> "dict[str, str]":
    return {k: v for k, v in os.environ.items() if k not in _NOT_FOR_CHILDREN}


def _verdict(path: str, data: bytes) -> Tuple[bool, str]:
    """The output of gpupool look, and whether that is a verdict."""
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
    """Prints the verdict, once, if this is an out-of-memory error.

    For frameworks that pass errors to a callback; otherwise sys.excepthook
    calls it.
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
    """The same in a child of multiprocessing, where no excepthook is called."""
    processes = sys.modules.get("multiprocessing")
    if processes is not None and processes.parent_process() is not None:
        tell(error)


def _on_child_exit() -> None:
    """Called in a child of multiprocessing while the error that ends it is
    being handled; torch.multiprocessing has turned it into SystemExit."""
    error = sys.exc_info()[1]
    if isinstance(error, SystemExit) and error.code:
        error = error.__context__
    tell(error)
    _on_exit()  # a pool's worker that went on runs no exit handlers


def _on_exit() -> None:
    """Prints a line, once, if the program went on after memory ran out."""
    if _state.process != os.getpid() or not _state.where:
        return
    # The error that ended it, if sys.excepthook was replaced after install().
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
    """Works with releases from 2.0 on. Keeps a history that the program has
    begun."""
    torch = _torch()
    is_on = getattr(torch._C, "_cuda_isHistoryEnabled", None)
    if is_on is None or not is_on():
        record = torch.cuda.memory._record_memory_history
        try:
            record("all", stacks="python", max_entries=_state.entries)
        except TypeError:
            record(True, trace_alloc_max_entries=_state.entries)


def _attach() -> None:
    """Called when CUDA is initialised, which must not happen earlier."""
    try:
        _record_history()
    except Exception as error:
        _say("gpupool: PyTorch records no history: {}\n".format(error))
    try:
        _torch()._C._cuda_attach_out_of_memory_observer(_on_out_of_memory)
    except Exception:
        pass  # sys.excepthook works all the same


def _after(hook: Callable[..., Any], error_of: Callable[..., Any]) -> Any:
    """A hook that calls the previous one, and then prints the verdict."""

    def both(*arguments: Any) -> Any:
        try:
            return hook(*arguments)
        finally:
            tell(error_of(*arguments))

    return both


def _hook_notebook() -> None:
    """IPython shows errors itself and does not call the excepthook."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module else None
    if shell is not None:
        shell.events.register(
            "post_run_cell", lambda result: _tell_cell(result.error_in_exec)
        )


def _tell_cell(error: Optional[BaseException]) -> None:
    tell(error)
    if _state.is_told:
        # The next cell may run out of memory again. That the session went on is
        # not worth a message.
        _state.is_told = False
        _state.where = ""


def install(
    folder: "Optional[str | os.PathLike[str]]" = None,
    entries: int = ENTRIES,
    rank: Optional[int] = None,
) -> bool:
    """Reports what happened when this process runs out of GPU memory.

    folder   where to write the snapshot, by default the current folder
    entries  how many events of the allocator PyTorch keeps
    rank     which process of a job this is, if the environment does not
             say so

    Returns whether PyTorch is installed. A second call changes only the folder
    and the rank.
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
    """multiprocessing shows the errors of its children itself."""
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
