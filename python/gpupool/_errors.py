# SPDX-License-Identifier: MIT
"""Exceptions, with the messages of the command line."""

from typing import Dict, Type


class Error(Exception):
    """The message of the command line, and its parts.

    file    what it is about, or ""
    record  the place in it, such as "event 812", or ""
    what    what is wrong
    hint    what to do, or ""
    status  the command line's exit status
    """

    status = 4

    def __init__(
        self,
        sentence: str,
        file: str = "",
        record: str = "",
        what: str = "",
        hint: str = "",
    ) -> None:
        super().__init__(sentence)
        self.file = file
        self.record = record
        self.what = what or sentence
        self.hint = hint


class UsageError(Error, ValueError):
    """An option, or its value, is wrong."""

    status = 2


class InputError(Error, ValueError):
    """A trace, or a string of settings, is wrong."""

    status = 3


class MachineError(Error, RuntimeError):
    """An error of the operating system or the device."""

    status = 4


BY_STATUS: Dict[int, Type[Error]] = {
    2: UsageError,
    3: InputError,
    4: MachineError,
}
