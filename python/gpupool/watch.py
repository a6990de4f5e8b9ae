# SPDX-License-Identifier: MIT
"""Runs a script as python does, with gpupool.install() before it.

python -m gpupool.watch [--folder FOLDER] train.py [ARGUMENT...]
python -m gpupool.watch [--folder FOLDER] -m package.train [ARGUMENT...]
"""

import builtins
import io
import os
import runpy
import sys
import types
from typing import List, Optional

from gpupool import crash

USAGE = "usage: python -m gpupool.watch [--folder FOLDER] [-m] PROGRAM ..."


def _run_script(path: str) -> None:
    """Runs a script as the main module, which its child processes look for."""
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=path, __builtins__=builtins, __spec__=None)
    sys.modules["__main__"] = main
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec")
    exec(code, main.__dict__)


def _run(program: str, is_module: bool, arguments: List[str]) -> None:
    sys.argv = [program, *arguments]
    if is_module:
        sys.path[0] = os.getcwd()
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    else:
        _run_script(program)


def _without_ours(error: BaseException) -> BaseException:
    """The error with a traceback that begins at the program's first line."""
    first = error.__traceback__
    while first and first.tb_frame.f_code.co_filename in (
        __file__,
        runpy.__file__,
        "<frozen runpy>",
    ):
        first = first.tb_next
    return error.with_traceback(first)


def main(words: Optional[List[str]] = None) -> None:
    words = sys.argv[1:] if words is None else words
    folder = None
    if len(words) > 1 and words[0] == "--folder":
        folder, words = words[1], words[2:]
    is_module = words[:1] == ["-m"]
    if is_module:
        words = words[1:]
    if not words or words[0] in ("-h", "--help"):
        print(USAGE, file=sys.stdout if words else sys.stderr)
        sys.exit(0 if words else 2)
    if not is_module and not os.path.isfile(words[0]):
        sys.exit("gpupool.watch: {}: there is no such file".format(words[0]))
    crash.install(folder)
    try:
        _run(words[0], is_module, words[1:])
    except SystemExit:
        raise
    except BaseException as error:
        shown = _without_ours(error)
        sys.excepthook(type(shown), shown, shown.__traceback__)
        if isinstance(error, KeyboardInterrupt):
            sys.exit(130)
        sys.exit(1)


if __name__ == "__main__":
    main()
