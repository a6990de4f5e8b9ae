# SPDX-License-Identifier: MIT
"""The table of gpupool/engine.h, made of a class.

    class Mine:
        '''what it is'''
        def __init__(self, memory): ...   # of a stream; see Memory
        def alloc(self, ask): ...         # (address, size), or None: no memory
        def free(self, address, size): ...
        def trim(self): ...               # may be missing, and so may
        def mark(self, name): ...
        def largest_free(self): ...

    table = gpupool_engine.table(Mine)

ask has size, id, stream and pool, as struct gp_ask.  An exception ends the
process, after it was printed: gpupool says so.
"""
import ctypes
import functools
import os
import traceback
from ctypes import POINTER, Structure, byref, c_bool, c_char_p, c_uint32
from ctypes import c_uint64, c_void_p, CFUNCTYPE

VERSION = 1
PAGE = 2 << 20  # of what is mapped


class _Memory(Structure):
    _fields_ = [
        ("device", c_void_p),
        ("malloc", CFUNCTYPE(c_bool, c_void_p, c_uint64, POINTER(c_uint64))),
        ("free", CFUNCTYPE(None, c_void_p, c_uint64)),
        ("reserve", CFUNCTYPE(c_bool, c_void_p, c_uint64, POINTER(c_uint64))),
        ("map", CFUNCTYPE(c_bool, c_void_p, c_uint64, c_uint64)),
        ("unmap", CFUNCTYPE(None, c_void_p, c_uint64, c_uint64)),
        ("info", CFUNCTYPE(None, c_void_p, POINTER(c_uint64),
                           POINTER(c_uint64))),
    ]


class _Ask(Structure):
    _fields_ = [("size", c_uint64), ("id", c_uint64), ("stream", c_uint64),
                ("pool", c_uint64 * 2)]


class _Piece(Structure):
    _fields_ = [("addr", c_uint64), ("size", c_uint64), ("handle", c_uint64)]


class _Table(Structure):
    _fields_ = [
        ("version", c_uint32),
        ("is_shared", c_uint32),
        ("name", c_char_p),
        ("sentence", c_char_p),
        ("create", CFUNCTYPE(c_void_p, c_void_p)),
        ("destroy", CFUNCTYPE(None, c_void_p)),
        ("alloc", CFUNCTYPE(c_bool, c_void_p, POINTER(_Ask), POINTER(_Piece))),
        ("free", CFUNCTYPE(None, c_void_p, POINTER(_Piece))),
        ("trim", CFUNCTYPE(None, c_void_p)),
        ("mark", CFUNCTYPE(None, c_void_p, c_char_p)),
        ("largest_free", CFUNCTYPE(c_uint64, c_void_p)),
    ]


class Memory:
    """The device: addresses, or None where it has no memory."""

    def __init__(self, at):
        self._calls = ctypes.cast(at, POINTER(_Memory)).contents

    def _address(self, call, size):
        address = c_uint64()
        is_done = call(self._calls.device, size, byref(address))
        return address.value if is_done else None

    def malloc(self, size):
        return self._address(self._calls.malloc, size)

    def free(self, address):
        self._calls.free(self._calls.device, address)

    def reserve(self, size):
        return self._address(self._calls.reserve, size)

    def map(self, address, size):
        return self._calls.map(self._calls.device, address, size)

    def unmap(self, address, size):
        self._calls.unmap(self._calls.device, address, size)

    def info(self):
        """Free bytes, and all."""
        free, total = c_uint64(), c_uint64()
        self._calls.info(self._calls.device, byref(free), byref(total))
        return free.value, total.value


def _whole(call):
    """Prints an exception and ends the process, so that no call returns a
    result after an error."""
    @functools.wraps(call)
    def wrapped(*arguments):
        try:
            return call(*arguments)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    return wrapped


def table(engine, name=None, is_shared=False):
    """The address of an engine's table, which lives as long as the process."""
    heaps = {}

    def create(memory):
        heaps[len(heaps) + 1] = engine(Memory(memory))
        return len(heaps)

    def alloc(heap, ask, piece):
        found = heaps[heap].alloc(ask.contents)
        if found is not None:
            piece.contents.addr, piece.contents.size = found
        return found is not None

    def free(heap, piece):
        heaps[heap].free(piece.contents.addr, piece.contents.size)

    calls = {
        "create": create,
        "alloc": alloc,
        "free": free,
        "trim": lambda heap: heaps[heap].trim(),
        "mark": lambda heap, text: heaps[heap].mark(text.decode()),
        "largest_free": lambda heap: heaps[heap].largest_free(),
    }
    made = _Table(VERSION, is_shared, (name or engine.__name__).encode(),
                  (engine.__doc__ or "").split("\n")[0].encode() or None)
    for field, kind in _Table._fields_:
        if field in calls and (field == "create" or hasattr(engine, field)):
            setattr(made, field, kind(_whole(calls[field])))
    table.kept = made, calls
    return ctypes.addressof(made)
