# SPDX-License-Identifier: MIT
"""libgpupool through ctypes: holds traces, and answers command lines.

Calls into the library release the interpreter's lock, so that other threads
can run in the meantime.
"""

import ctypes
import sys
import threading
import weakref
from typing import (
    Callable,
    List,
    NamedTuple,
    NoReturn,
    Optional,
    Sequence,
    Set,
    TypeVar,
)

from gpupool import _native
from gpupool._errors import BY_STATUS, Error, MachineError


class _Diag(ctypes.Structure):
    """struct gp_diag"""

    _fields_ = [
        ("file", ctypes.c_char * 256),
        ("record", ctypes.c_char * 96),
        ("what", ctypes.c_char * 512),
        ("hint", ctypes.c_char * 256),
        ("is_foreign", ctypes.c_bool),
        ("is_partial", ctypes.c_bool),
    ]


class _Reply(ctypes.Structure):
    """struct gp_reply"""

    _fields_ = [
        ("status", ctypes.c_int),
        ("diag", _Diag),
        ("out", ctypes.c_void_p),
        ("err", ctypes.c_void_p),
        ("out_length", ctypes.c_size_t),
        ("err_length", ctypes.c_size_t),
    ]


class _Input(ctypes.Structure):
    """struct gp_input_config"""

    _fields_ = [
        ("path", ctypes.c_char_p),
        ("bytes", ctypes.c_char_p),
        ("length", ctypes.c_size_t),
        ("most_bytes", ctypes.c_uint64),
        ("progress", ctypes.c_void_p),
        ("progress_arg", ctypes.c_void_p),
        ("is_of_host", ctypes.c_bool),
        ("by_jansson", ctypes.c_bool),
    ]


class _Knob(ctypes.Structure):
    """struct gp_knob"""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("flag", ctypes.c_char_p),
        ("id", ctypes.c_int),
        ("type", ctypes.c_int),
        ("member", ctypes.c_uint16),
        ("since", ctypes.c_uint8),
        ("range", ctypes.c_char_p),
        ("by_default", ctypes.c_char_p),
        ("sentence", ctypes.c_char_p),
        ("reader", ctypes.c_int),
        ("alias_of", ctypes.c_char_p),
    ]


def _open() -> ctypes.CDLL:
    path = _native.library()
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise MachineError(
            "the library cannot be loaded: {}".format(error)
        ) from None
    pointer = ctypes.c_void_p
    library.gp_session_create.restype = pointer
    library.gp_session_create.argtypes = []
    library.gp_session_destroy.restype = None
    library.gp_session_destroy.argtypes = [pointer]
    library.gp_session_hold.restype = None
    library.gp_session_hold.argtypes = [pointer, ctypes.c_char_p, pointer]
    library.gp_ask.restype = None
    library.gp_ask.argtypes = [
        pointer,
        ctypes.c_int,
        ctypes.POINTER(ctypes.c_char_p),
        ctypes.POINTER(_Reply),
    ]
    library.gp_ask_stop.restype = None
    library.gp_ask_stop.argtypes = [pointer, ctypes.POINTER(_Reply)]
    library.gp_reply_release.restype = None
    library.gp_reply_release.argtypes = [ctypes.POINTER(_Reply)]
    library.gp_input_read.restype = ctypes.c_int
    library.gp_input_read.argtypes = [
        ctypes.POINTER(_Input),
        ctypes.POINTER(pointer),
        ctypes.POINTER(_Diag),
    ]
    library.gp_knob_table.restype = ctypes.POINTER(_Knob)
    library.gp_knob_table.argtypes = [ctypes.POINTER(ctypes.c_size_t)]
    library.gp_engine_find.restype = pointer
    library.gp_engine_find.argtypes = [ctypes.c_char_p]
    library.gp_engine_is_of_host.restype = ctypes.c_bool
    library.gp_engine_is_of_host.argtypes = [pointer]
    return library


_opened: Optional[ctypes.CDLL] = None


def _library() -> ctypes.CDLL:
    """Opens the library on first use: install() alone does not need it."""
    global _opened
    if _opened is None:
        _opened = _open()
    return _opened


def settings() -> Set[str]:
    """PyTorch's names of the allocator's settings."""
    count = ctypes.c_size_t()
    table = _library().gp_knob_table(ctypes.byref(count))
    return {table[i].name.decode() for i in range(count.value)}


def is_of_host(engine: bytes) -> bool:
    """Whether an engine serves requests for pinned host memory."""
    library = _library()
    return bool(library.gp_engine_is_of_host(library.gp_engine_find(engine)))


def version() -> str:
    return Session().ask([b"version"]).out.decode().split()[-1]


def _safe(text: bytes) -> str:
    """Escapes characters that would control a terminal."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode()
        for c in text.decode("utf-8", "replace")
    )


def _error(status: int, diag: _Diag, sentence: str) -> Error:
    file, record = _safe(diag.file), _safe(diag.record)
    what, hint = _safe(diag.what), _safe(diag.hint)
    if not sentence:
        sentence = ": ".join(p for p in (file, record, what) if p)
        sentence += "\n" + hint if hint else ""
    kind = BY_STATUS.get(status, MachineError)
    return kind(sentence, file, record, what, hint)


_T = TypeVar("_T")


def _waited_for(
    call: Callable[[], _T], stop: Callable[[], None] = lambda: None
) -> _T:
    """Makes the call on another thread, so that Ctrl-C has an effect.

    Python raises KeyboardInterrupt only in the main thread, and not while
    that is inside the library. When it is raised, the call is told to stop,
    and its result is dropped.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or sys.is_finalizing():
        return call()
    answers: List[_T] = []
    errors: List[BaseException] = []
    is_done = threading.Event()

    def run() -> None:
        try:
            answers.append(call())
        except BaseException as error:
            errors.append(error)
        finally:
            is_done.set()

    try:
        threading.Thread(target=run, daemon=True).start()
    except RuntimeError:  # too many threads, or the interpreter is ending
        return call()
    try:
        is_done.wait()
    except BaseException:
        stop()
        raise
    if errors:
        raise errors.pop()
    return answers.pop()


class Reply(NamedTuple):
    """The answer to a command line."""

    status: int
    out: bytes
    err: str


class Session:
    """Holds traces under names, and answers questions about them.

    It is destroyed when the last reference is gone; a thread that asks has
    one.
    """

    def __init__(self) -> None:
        library = _library()
        self._handle = library.gp_session_create()
        self._end = weakref.finalize(
            self, library.gp_session_destroy, self._handle
        )
        # At exit the system frees its memory, while threads may still ask.
        self._end.atexit = False

    def __reduce__(self) -> NoReturn:
        """Its address means nothing in another process, or in a copy."""
        raise TypeError(
            "a gpupool.Trace cannot be pickled: give its path, and load it "
            "in the process that asks"
        )

    def read(
        self,
        name: bytes,
        data: Optional[bytes] = None,
        max_input: int = 0,
        is_of_host: bool = False,
    ) -> None:
        """Reads the file with this name, or bytes, and holds the trace under
        it."""
        _waited_for(lambda: self._read(name, data, max_input, is_of_host))

    def _read(
        self,
        name: bytes,
        data: Optional[bytes],
        max_input: int,
        is_of_host: bool,
    ) -> None:
        library = _library()
        config = _Input(
            path=name,
            bytes=data,
            length=0 if data is None else len(data),
            most_bytes=max_input,
            is_of_host=is_of_host,
        )
        trace = ctypes.c_void_p()
        diag = _Diag()
        status = library.gp_input_read(
            ctypes.byref(config), ctypes.byref(trace), ctypes.byref(diag)
        )
        if status:
            raise _error(status, diag, "")
        library.gp_session_hold(self._handle, name, trace)

    def ask(self, words: Sequence[bytes]) -> Reply:
        """Answers a command line; raises Error if that fails."""
        reply = _Reply()
        return _waited_for(
            lambda: self._ask(words, reply), lambda: self._stop(reply)
        )

    def _stop(self, reply: _Reply) -> None:
        """Stops a call; a sweep still finishes the runs that have begun."""
        _library().gp_ask_stop(self._handle, ctypes.byref(reply))

    def _ask(self, words: Sequence[bytes], reply: _Reply) -> Reply:
        library = _library()
        argv = (ctypes.c_char_p * len(words))(*words)
        library.gp_ask(self._handle, len(words), argv, ctypes.byref(reply))
        try:
            out = ctypes.string_at(reply.out or b"", reply.out_length)
            err = ctypes.string_at(reply.err or b"", reply.err_length)
            said = err.decode("utf-8", "replace").strip()
            # Status 1 means that a condition was not met: the report is there.
            # It is there, too, if some ranks of a folder could not be read.
            if reply.status > 1 and not reply.diag.is_partial:
                raise _error(reply.status, reply.diag, _bare(said))
            return Reply(reply.status, out, said)
        finally:
            library.gp_reply_release(ctypes.byref(reply))


def _bare(said: str) -> str:
    """The last message of several, without the program's name."""
    mark = "gpupool: "
    lines: List[str] = said.split("\n")
    starts = [i for i, line in enumerate(lines) if line.startswith(mark)]
    last = "\n".join(lines[starts[-1] :]) if starts else said
    return last[len(mark) :] if last.startswith(mark) else last
