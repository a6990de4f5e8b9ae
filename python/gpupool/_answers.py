# SPDX-License-Identifier: MIT
"""Answers: gpupool's JSON reports, by attribute.

>>> point = Record({"device": 0, "peak": {"bytes": 512}})
>>> point.device, point.peak.bytes, point["peak"]["bytes"]
(0, 512, 512)
>>> point.dict()
{'device': 0, 'peak': {'bytes': 512}}
"""

import base64
import copy
import csv
import html
import io
import json
from typing import (
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
)


def _shown(value: Any) -> Any:
    if isinstance(value, dict):
        return Record(value)
    if isinstance(value, list):
        return [_shown(v) for v in value]
    return value


class Record(Mapping[str, Any]):
    """An object of a report; gpupool-report(5) lists its keys.

    A key can be read as an attribute. If it is not a valid name, or is a name
    of this class, it can be read as an item: record["num_ooms"],
    record["active.all.peak"].
    """

    def __init__(self, data: Dict[str, Any]) -> None:
        self._data = data

    def __getitem__(self, key: str) -> Any:
        return _shown(self._data[key])

    def __getattr__(self, name: str) -> Any:
        try:
            return _shown(self.__dict__["_data"][name])
        except KeyError:
            raise AttributeError(
                "the report has no {!r}; it has {}".format(
                    name, ", ".join(self.__dict__.get("_data", ()))
                )
            ) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self._data]

    def dict(self) -> Dict[str, Any]:
        """A copy as a plain dict, with plain lists and dicts in it."""
        return copy.deepcopy(self._data)

    def __repr__(self) -> str:
        shown = ", ".join(
            "{}={}".format(k, _short(v)) for k, v in self._data.items()
        )
        return "{}({})".format(type(self).__name__, shown)

    def _repr_html_(self) -> str:
        return _html_table([[k, _short(v)] for k, v in self._data.items()])


def _short(value: Any) -> str:
    if isinstance(value, (dict, list)) and value:
        return "{...}" if isinstance(value, dict) else "[...]"
    return repr(value)


class _Said:
    """Returns a text that is known already, in place of asking for it."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __call__(self) -> str:
        return self._text


class Answer(Record):
    """A report. str() is what the command line prints for a person.

    json    the report as the command line writes it, as bytes
    notes   what the command line prints in addition, on standard error
    status  0; 1 if an alert fired or strict was not met; 3 if the report is
            without some ranks, which the notes name
    """

    def __init__(
        self,
        data: bytes,
        status: int,
        notes: str,
        text: Callable[[], str],
        picture: Optional[Callable[[], str]] = None,
    ) -> None:
        super().__init__(json.loads(data))
        self.json = data
        self.status = status
        self.notes = notes
        self._text = text
        self._picture = picture

    def __str__(self) -> str:
        return self._text()

    def __reduce__(self) -> Tuple[Any, ...]:
        """With all texts, because the trace stays in its process."""
        picture = _Said(self._picture()) if self._picture else None
        text = _Said(self._text())
        return Answer, (self.json, self.status, self.notes, text, picture)

    def _repr_html_(self) -> str:
        return shown_as_html(
            self._text(), self._picture() if self._picture else ""
        )


_SETTINGS = {"alloc_conf"}
# Reports write "no limit" as null.
_UNLIMITED = {"capacity": "unlimited"}
_TEXTS = {"alloc_conf", "torch", "engine", "reason", "op", "pool", "site"}


def _values(column: str, texts: List[str]) -> List[Any]:
    """Converts a column to a single type, as data frames need."""
    kinds: List[Callable[[str], Any]] = [int, float]
    if column in _UNLIMITED:
        texts = ["" if t == _UNLIMITED[column] else t for t in texts]
    for kind in [] if column in _TEXTS else kinds:
        try:
            return [kind(text) if text else None for text in texts]
        except ValueError:
            pass
    # An empty text in a column of settings means PyTorch's defaults; elsewhere
    # it means that the value is not known.
    return [text if text or column in _SETTINGS else None for text in texts]


def rows_of(table: str) -> List[Dict[str, Any]]:
    """A table of the command line, with typed values.

    >>> rows_of("torch,bytes,share,at\\n2.10,512,0.5,\\n2.9,,1,7\\n")[1]
    {'torch': '2.9', 'bytes': None, 'share': 1.0, 'at': 7}
    >>> table = "capacity\\n512\\nunlimited\\n"
    >>> [row["capacity"] for row in rows_of(table)]
    [512, None]
    """
    # A site may be longer than csv takes by itself.
    csv.field_size_limit(1 << 24)
    names, *rows = list(csv.reader(io.StringIO(table))) or [[]]
    columns = [_values(*column) for column in zip(names, map(list, zip(*rows)))]
    return [dict(zip(names, row)) for row in zip(*columns)]


_MOST_SHOWN = 100  # rows in a notebook


class Rows(List[Dict[str, Any]]):
    """Rows of a table, for pandas.DataFrame(rows) or polars.DataFrame(rows)."""

    def _repr_html_(self) -> str:
        if not self:
            return "<p>no rows</p>"
        shown = self[:_MOST_SHOWN]
        columns = [c for c in self[0] if any(r[c] is not None for r in shown)]
        left = len(self) - len(shown)
        return _html_table(
            [[r[c] for c in columns] for r in shown], columns
        ) + ("<p>and {:,} more</p>".format(left) if left else "")


class Sweep(Rows):
    """The rows of a sweep, best first.

    text    what the command line prints for a person
    notes   what it prints in addition, on standard error
    """

    def __init__(self, table: str, text: Callable[[], str], notes: str) -> None:
        super().__init__(rows_of(table))
        self._text = text
        self.notes = notes

    def __reduce__(self) -> Tuple[Any, ...]:
        said = ("", _Said(self._text()), self.notes)
        return Sweep, said, None, iter(self)

    @property
    def best(self) -> Record:
        return Record(self[0])

    def __str__(self) -> str:
        return self._text()


def _html_table(rows: List[List[Any]], names: Sequence[str] = ()) -> str:
    head = "".join("<th>{}</th>".format(html.escape(n)) for n in names)
    lines = [head] if head else []
    for row in rows:
        cells = ("" if v is None else html.escape(str(v)) for v in row)
        lines.append("".join("<td>{}</td>".format(c) for c in cells))
    return "<table>{}</table>".format(
        "".join("<tr>{}</tr>".format(line) for line in lines)
    )


def shown_as_html(text: str, picture: str) -> str:
    """A text, and below it a drawing: as an image, in which no script runs."""
    parts = ["<pre>{}</pre>".format(html.escape(text.rstrip("\n")))]
    if picture:
        data = base64.b64encode(picture.encode()).decode()
        parts.append(
            '<img alt="memory over time" style="max-width: 40em" '
            'src="data:image/svg+xml;base64,{}">'.format(data)
        )
    return "".join(parts)
