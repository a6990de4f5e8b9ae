# SPDX-License-Identifier: MIT
"""Serves the page's modules and answers their questions by the program.

    serve.py GPUPOOL MODULES PAGES DONE

prints its port, and ends with its standard input.  A question is a POST of a
JSON list, the command line behind "gpupool"; the answer is its standard output,
or, with status 400, the first line that it says went wrong.  What is posted to
/done, the page as it is in the end, is written to DONE.
"""

import json
import subprocess
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PROGRAM, MODULES, PAGES, DONE = sys.argv[1:5]


class Handler(SimpleHTTPRequestHandler):
    """Files of two folders, and questions."""

    extensions_map = {  # noqa: RUF012: as the base class has it
        ".js": "text/javascript",
        ".css": "text/css",
        ".html": "text/html; charset=utf-8",
    }

    def translate_path(self, path: str) -> str:
        name = Path(path.split("?")[0]).name or "views.html"
        for folder in (PAGES, MODULES):
            if (Path(folder) / name).is_file():
                return str(Path(folder) / name)
        return str(Path(PAGES) / "none")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/done":
            Path(DONE + ".new").write_bytes(body)
            self.answer(200, b"")
            Path(DONE + ".new").rename(DONE)
            return
        argv = json.loads(body)
        run = subprocess.run(
            [PROGRAM, *argv, "-q"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if run.returncode:
            self.answer(400, run.stderr.split(b"\n")[0])
        else:
            self.answer(200, run.stdout)

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
