# SPDX-License-Identifier: MIT
"""Traces, and the questions that can be asked about them."""

import html
import os
import pickle
import warnings
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    List,
    Mapping,
    Optional,
    Sequence,
    Union,
)

from gpupool import _library
from gpupool._answers import Answer, Rows, Sweep, rows_of, shown_as_html
from gpupool._errors import InputError, UsageError

Source = Union[
    str, "os.PathLike[str]", bytes, bytearray, memoryview, Mapping[str, Any]
]

# Keywords that have another name on the command line.
_OPTIONS = {"release": "torch"}


def _text(value: Any) -> bytes:
    is_named = isinstance(value, (bytes, os.PathLike))
    return os.fsencode(value if is_named else str(value))


def _check_release(value: Any) -> None:
    if value == 2.1 and isinstance(value, float):
        raise UsageError(
            'release=2.1: Python reads 2.10 as this number, too; write "2.1" '
            'or "2.10"'
        )


def _options(keywords: Mapping[str, Any]) -> List[bytes]:
    """Converts keywords to options of the command line.

    None means not given. True and False are values of a setting; other options
    are flags, given or not. A list gives the option once per item. Flags come
    last, so that they cannot take a following word as their argument.
    """
    words: List[bytes] = []
    flags: List[bytes] = []
    for keyword, value in keywords.items():
        name = _OPTIONS.get(keyword, keyword)
        is_setting = name in _library.settings()
        option = b"--" + _text(name if is_setting else name.replace("_", "-"))
        for one in _each(value):
            if name == "torch":
                _check_release(one)
            if one is None or (one is False and not is_setting):
                continue
            if one is True and not is_setting:
                flags.append(option)
            else:
                words.append(option + b"=" + _text(one))
    return words + flags


def _each(value: Any) -> Iterable[Any]:
    """The items of a list, a range or an array; any other value by itself."""
    is_one = isinstance(value, (str, bytes, os.PathLike, Mapping))
    return value if isinstance(value, Iterable) and not is_one else [value]


def _warn(reply: _library.Reply, depth: int) -> None:
    """Warns if a report is without some ranks, at the line that asked for it,
    `depth` calls above."""
    if reply.status == InputError.status:
        said = reply.err.replace("gpupool: ", "")
        warnings.warn(said, stacklevel=depth + 1)


def _axis(name: str, values: Any) -> bytes:
    """An axis as --set of a sweep: max_split_size_mb=none,64."""
    if _OPTIONS.get(name, name) == "torch":
        for one in _each(values):
            _check_release(one)
    words = ("none" if v is None else str(v) for v in _each(values))
    return _text(
        "--set={}={}".format(_OPTIONS.get(name, name), ",".join(words))
    )


# Keywords of sweep() that are options, not axes.
_OF_SWEEP = {
    "alloc_conf",
    "confs",
    "cut",
    "jobs",
    "most_runs",
    "preset",
    "prices",
    "rank_by",
    "without",
}


def _name(path: "Union[str, os.PathLike[str]]") -> bytes:
    name = os.fsencode(path)
    if b"\0" in name:
        raise InputError("a path cannot contain a NUL character")
    return b"./" + name if name.startswith(b"-") else name


def _about_log(error: InputError) -> InputError:
    """Changes the command line's hint about logs to what Python calls."""
    if "the log of a program" not in error.what:
        return error
    hint = "gpupool.look(path) explains a log; a trace says more"
    return InputError(
        str(error).replace(error.hint, hint),
        error.file,
        error.record,
        error.what,
        hint,
    )


class Trace:
    """A trace, held in memory: read once, and asked any number of times.

    load() makes one. Keywords are the options of the command with the method's
    name (gpupool help replay), and the allocator's settings under PyTorch's
    names; release is PyTorch's. Several threads may ask at the same time.
    """

    def __init__(self, sources: Sequence[Source], max_input: int = 0) -> None:
        self._max_input = max_input
        self._session: Optional[_library.Session] = _library.Session()
        # For sources that are not files: their requests for pinned host memory.
        self._of_host: Optional[_library.Session] = None
        self._names: List[bytes] = []
        self._data: Dict[bytes, bytes] = {}  # of sources that are not files
        for source in sources:
            self._read(source)

    def _read(self, source: Source) -> None:
        if isinstance(source, Mapping):
            name = self._new("snapshot")
            self._data[name] = _pickled(source)
        elif isinstance(source, (bytes, bytearray, memoryview)):
            name = self._new("trace")
            self._data[name] = bytes(source)
        elif not isinstance(source, (str, os.PathLike)):
            raise TypeError(
                "a trace is a path, the bytes of a file or a snapshot's dict, "
                "not {!r}; pass several as several arguments".format(
                    type(source)
                )
            )
        else:
            name = _name(source)
            self._names.append(name)
        data = self._data.get(name)
        if data is None and os.path.isdir(name):
            return
        try:
            self._held().read(name, data, self._max_input)
        except InputError as error:
            raise _about_log(error) from None

    def _new(self, word: str) -> bytes:
        name = word.encode()
        while name in self._names:
            name = "{}-{}".format(word, len(self._names) + 1).encode()
        self._names.append(name)
        return name

    def _held(self) -> _library.Session:
        if self._session is None:
            raise ValueError("the trace is closed")
        return self._session

    def _session_for(self, options: Mapping[str, Any]) -> _library.Session:
        """Returns another session for engines of pinned host memory, which has
        their requests."""
        session = self._held()
        engine = options.get("engine")
        if engine is None or not _library.is_of_host(_text(engine)):
            return session
        of_host = self._of_host
        if of_host is None:
            of_host = _library.Session()  # reads files by itself
            for name, data in self._data.items():
                of_host.read(name, data, self._max_input, is_of_host=True)
            self._of_host = of_host
        return of_host

    def close(self) -> None:
        """Releases the trace's memory, as soon as no answer needs it for
        printing. Without this it is released when the object is."""
        self._session = self._of_host = None
        self._data = {}

    def __enter__(self) -> "Trace":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        names = ", ".join(repr(os.fsdecode(name)) for name in self._names)
        return "gpupool.Trace({})".format(names)

    def ask(self, command: str, *words: str, **options: Any) -> bytes:
        """What a command that takes traces prints, byte for byte."""
        reply = self._ask(command, [_text(w) for w in words], options)
        _warn(reply, 2)
        return reply.out

    def _question(
        self, command: str, words: List[bytes], options: Mapping[str, Any]
    ) -> List[bytes]:
        # A name never begins with "-".
        question = [
            _text(command),
            *words,
            *self._names,
            b"-q",
            *_options(options),
        ]
        if any(b"\0" in word for word in question):
            raise UsageError("an option cannot contain a NUL character")
        return question

    def _ask(
        self, command: str, words: List[bytes], options: Mapping[str, Any]
    ) -> _library.Reply:
        question = self._question(command, words, options)
        return self._session_for(options).ask(question)

    def _one(self, command: str) -> bytes:
        """The name of the trace, for commands that need a single one."""
        if len(self._names) != 1 or os.path.isdir(self._names[0]):
            raise UsageError(
                "{} needs one trace, and these are ranks of a job: load one "
                "of its files".format(command)
            )
        return self._names[0]

    def _texts(
        self, command: str, words: List[bytes], options: Mapping[str, Any]
    ) -> Callable[[], str]:
        """Asks only when it is called, even if the trace was closed since."""
        session = self._session_for(options)
        question = self._question(command, words, options)
        return lambda: session.ask(question).out.decode("utf-8", "replace")

    def _answer(
        self,
        command: str,
        options: Mapping[str, Any],
        picture: Optional[Callable[[], str]] = None,
    ) -> Answer:
        reply = self._ask(command, [b"--format=json"], options)
        _warn(reply, 3)
        if not reply.out.startswith(b"{"):
            raise UsageError(
                "{0}: its report was to be something else than JSON, or "
                'elsewhere: ask("{0}", ...) is for that'.format(command)
            )
        return Answer(
            reply.out,
            reply.status,
            reply.err,
            self._texts(command, [], options),
            picture,
        )

    def replay(self, **options: Any) -> Answer:
        """One run: as recorded, or under other settings.

        >>> import gpupool
        >>> trace = gpupool.load(TRACE)
        >>> trace.replay().runs[0].devices[0].memory_stats["num_ooms"]
        1
        >>> better = trace.replay(expandable_segments=True, release="2.9")
        >>> better.runs[0].devices[0].memory_stats["num_ooms"]
        0
        """
        picture = self._texts("replay", [b"--format=svg"], options)
        return self._answer("replay", options, picture)

    def suggest(self, **options: Any) -> Answer:
        """The setting under which the trace fits, with its proof.

        >>> import gpupool
        >>> gpupool.load(TRACE).suggest().devices[0].verdict.alloc_conf
        'expandable_segments:True'
        """
        return self._answer("suggest", options)

    def explain(self, **options: Any) -> Answer:
        """Why memory ran out or is fragmented, who holds it, and what helps."""
        return self._answer("explain", options)

    def look(self, **options: Any) -> Answer:
        """The verdict and who holds the memory, on one screen."""
        return self._answer("look", options)

    def headroom(self, **options: Any) -> Answer:
        """The smallest device that is large enough."""
        return self._answer("headroom", options)

    def info(self, **options: Any) -> Answer:
        """What the trace contains."""
        return self._answer("info", options)

    def sweep(
        self,
        release: Any = None,
        capacity: Any = None,
        engine: Any = None,
        **keywords: Any,
    ) -> Sweep:
        """Replays every combination of the values; best first.

        A setting that is given as a list is tried with each value; None means
        not set. Releases, capacities and engines can be lists, too.

        >>> import gpupool
        >>> rows = gpupool.load(TRACE).sweep(expandable_segments=[False, True])
        >>> [row["num_ooms"] for row in rows]
        [0, 1]
        """
        axes: Dict[str, Any] = {
            "release": release,
            "capacity": capacity,
            "engine": engine,
        }
        axes = {k: v for k, v in axes.items() if v is not None}
        options: Dict[str, Any] = {}
        for name, value in keywords.items():
            (options if name in _OF_SWEEP else axes)[name] = value
        words = [_axis(name, values) for name, values in axes.items()]
        reply = self._ask("sweep", [*words, b"--format=csv"], options)
        _warn(reply, 2)
        return Sweep(
            reply.out.decode("utf-8", "replace"),
            self._texts("sweep", words, options),
            reply.err,
        )

    def events(self, **options: Any) -> Rows:
        """The run event by event, with reserved and allocated after each."""
        name = self._one("events()")
        words = [b"convert", b"--run", b"--to=csv", b"-q", name, b"-"]
        session = self._session_for(options)
        reply = session.ask([*words, *_options(options)])
        return Rows(rows_of(reply.out.decode("utf-8", "replace")))

    def page(self, **options: Any) -> "Page":
        """The run as a page for a browser; a notebook shows it inline."""
        text = self._texts("replay", [b"--format=html"], options)
        return Page(text())

    def _repr_html_(self) -> str:
        picture = self._texts("replay", [b"--format=svg"], {})
        return shown_as_html(self._texts("look", [], {})(), picture())


class Page(str):
    """A page for a browser, as a single text."""

    def save(self, path: "Union[str, os.PathLike[str]]") -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(self)

    def _repr_html_(self) -> str:
        # In a frame of its own, which cannot access the notebook.
        return (
            '<iframe sandbox="allow-scripts" width="100%" height="800" '
            'style="border: 0" srcdoc="{}"></iframe>'.format(
                html.escape(str(self), quote=True)
            )
        )


def _pickled(snapshot: Mapping[str, Any]) -> bytes:
    """Pickles it like torch.cuda.memory._dump_snapshot."""
    try:
        return pickle.dumps(dict(snapshot), protocol=4)
    except Exception as error:
        raise InputError(
            "this is not a snapshot: it cannot be pickled: {}".format(error)
        ) from error


def load(*sources: Source, max_input: int = 0) -> Trace:
    """Reads a trace in any format that gpupool knows.

    A source is a path, or a folder of the traces of ranks; the bytes of a file;
    or a snapshot from torch.cuda.memory._snapshot(). Several sources are ranks
    of one job. max_input is the number of bytes to which a packed source may
    unpack, by default 4 GiB.

    >>> import gpupool
    >>> gpupool.load(b"not a trace")
    Traceback (most recent call last):
    ...
    gpupool._errors.InputError: trace: its format is not recognised
    PyTorch's memory snapshots, profiles and more can be read: ...
    """
    if not sources:
        raise UsageError("which trace?")
    if not 0 <= max_input < 1 << 64:
        raise UsageError("max_input={}: not a size".format(max_input))
    return Trace(sources, max_input)


def look(*paths: "Union[str, os.PathLike[str]]", **options: Any) -> Answer:
    """The answer of `gpupool FILE`. The file need not be a trace: it may be the
    log of a program that ran out of memory, or a folder of the logs of all
    ranks.
    """
    if not paths:
        raise UsageError("which file?")
    trace = Trace(())
    trace._names = [_name(path) for path in paths]
    return trace.look(**options)
