# SPDX-License-Identifier: MIT
"""Writes a wheel: the same files give the same bytes, on any day.

    pack.py --version V --tag py3-none-manylinux_2_17_x86_64 --out FOLDER TREE

TREE is what the wheel unpacks to, without its .dist-info, which is made here
from python/README.md, LICENSE and the entry points below (PEP 427, PEP 566).
"""

import argparse
import base64
import hashlib
import os
import pathlib
import stat
import time
import zipfile

ENTRY_POINTS = """[console_scripts]
gpupool = gpupool.__main__:main

[pytest11]
gpupool = gpupool.pytest_plugin
"""

METADATA = """Metadata-Version: 2.1
Name: gpupool
Version: {version}
Summary: Replay and explain GPU memory traces of PyTorch: which setting \
would have saved the run
License: MIT
Classifier: License :: OSI Approved :: MIT License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Software Development :: Debuggers
Classifier: Framework :: Pytest
Classifier: Typing :: Typed
Keywords: pytorch,cuda,memory,out of memory,fragmentation,profiler
Requires-Python: >=3.8
Description-Content-Type: text/markdown

{description}"""

WHEEL = """Wheel-Version: 1.0
Generator: gpupool {version}
Root-Is-Purelib: false
Tag: {tag}
"""

# Zip has no earlier day.
FIRST_DAY = 315532800


def files_of(tree):
    """Each file as its name in the wheel, its bytes and whether it is
    executable."""
    for path in sorted(tree.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            is_program = bool(path.stat().st_mode & stat.S_IXUSR)
            name = path.relative_to(tree).as_posix()
            yield name, path.read_bytes(), is_program


def made(root, version, tag):
    """The files of .dist-info, except for RECORD."""
    description = (root / "python" / "README.md").read_text("utf-8")
    texts = {
        "METADATA": METADATA.format(version=version, description=description),
        "WHEEL": WHEEL.format(version=version, tag=tag),
        "entry_points.txt": ENTRY_POINTS,
        "LICENSE": (root / "LICENSE").read_text("utf-8"),
    }
    for name, text in sorted(texts.items()):
        yield f"gpupool-{version}.dist-info/{name}", text.encode(), False


def line_of(name, data):
    """RECORD's entry for a file."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
    return f"{name},sha256={digest.rstrip(b'=').decode()},{len(data)}\n"


def write(wheel, files, record, when):
    lines = []
    with zipfile.ZipFile(wheel, "w") as packed:

        def add(name, data, is_program):
            entry = zipfile.ZipInfo(name, time.gmtime(when)[:6])
            entry.create_system = 3  # Unix, for the mode
            mode = 0o755 if is_program else 0o644
            entry.external_attr = (stat.S_IFREG | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(entry, data, compresslevel=9)

        for name, data, is_program in files:
            add(name, data, is_program)
            lines.append(line_of(name, data))
        lines.append(f"{record},,\n")
        add(record, "".join(lines).encode(), False)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--version", required=True)
    options.add_argument("--tag", required=True)
    options.add_argument("--out", required=True, type=pathlib.Path)
    options.add_argument("tree", type=pathlib.Path)
    asked = options.parse_args()
    root = pathlib.Path(__file__).resolve().parents[2]
    when = max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), FIRST_DAY)
    asked.out.mkdir(parents=True, exist_ok=True)
    wheel = asked.out / f"gpupool-{asked.version}-{asked.tag}.whl"
    files = [*files_of(asked.tree), *made(root, asked.version, asked.tag)]
    record = f"gpupool-{asked.version}.dist-info/RECORD"
    write(wheel, files, record, when)
    print(wheel)


if __name__ == "__main__":
    main()
