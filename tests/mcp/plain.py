#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gpupool mcp with a script that uses no library: plain.py GPUPOOL TRACES

Answers are compared with the command line's; what a broken or hostile client
may send must be answered or ignored, in bounded memory.
"""
import json
import os
import queue
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

GPUPOOL, TRACES = (os.path.abspath(path) for path in sys.argv[1:])
TRACE = os.path.join(TRACES, "recorded", "fsdp-rank0-of-64.default.pickle.gz")
SMALL = os.path.join(TRACES, "tiny", "small-alloc.json")
LONG = 120  # seconds: nothing here takes that long, on any machine


class Server:
    def __init__(self, *folders, cwd=None):
        self.process = subprocess.Popen(
            [GPUPOOL, "mcp", *folders], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd)
        self.lines = queue.Queue()
        self.serial = 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))
        self.lines.put(None)

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def get(self):
        return self.lines.get(timeout=LONG)

    def start(self, method, params=None):
        self.serial += 1
        message = {"jsonrpc": "2.0", "id": self.serial, "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)
        return self.serial

    def ask(self, method, params=None):
        number = self.start(method, params)
        answer = self.get()
        assert answer["id"] == number, answer
        return answer

    def call(self, tool, **arguments):
        answer = self.ask("tools/call",
                          {"name": tool, "arguments": arguments})
        return answer["result"]

    def text(self, tool, **arguments):
        return self.call(tool, **arguments)["content"][0]["text"]

    def peak_bytes(self):
        with open(f"/proc/{self.process.pid}/status",
                  encoding="utf-8") as file:
            for line in file:
                if line.startswith("VmHWM"):
                    return int(line.split()[1]) * 1024
        raise AssertionError("no VmHWM")

    def end(self):
        """Closes its input; returns the rest of its output."""
        self.process.stdin.close()
        rest = []
        while (message := self.get()) is not None:
            rest.append(message)
        status, said = self.process.wait(LONG), self.process.stderr.read()
        assert (status, said) == (0, b""), (status, said)
        return rest


def run(*words):
    return subprocess.run([GPUPOOL, *words], capture_output=True, text=True,
                          check=False)


def test_handshake():
    server = Server()
    for asked, agreed in [("2024-11-05", "2024-11-05"),
                          ("2025-03-26", "2025-03-26"),
                          ("2025-06-18", "2025-06-18"),
                          ("2025-11-25", "2025-11-25"),
                          ("2031-01-01", "2025-11-25"), (7, "2025-11-25")]:
        result = server.ask("initialize", {"protocolVersion": asked})["result"]
        assert result["protocolVersion"] == agreed, result
        assert result["capabilities"] == {"tools": {}}
    assert server.end() == []


def test_stateless():
    server = Server()
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    result = server.ask("server/discover", {"_meta": meta})["result"]
    assert "2026-07-28" in result["supportedVersions"]
    assert result["resultType"] == "complete"
    result = server.ask("tools/list", {"_meta": meta})["result"]
    assert result["ttlMs"] >= 0 and result["cacheScope"] == "public"
    result = server.ask("tools/call", {
        "_meta": meta, "name": "info", "arguments": {"trace": SMALL}})
    assert result["result"]["resultType"] == "complete"
    meta = {"io.modelcontextprotocol/protocolVersion": "1999-01-01"}
    error = server.ask("tools/list", {"_meta": meta})["error"]
    assert error["code"] == -32022, error
    assert "2026-07-28" in error["data"]["supported"]
    assert server.end() == []


# For each tool, its arguments and the equivalent command line.
SAME = [
    ("replay", {}, ["replay"]),
    ("replay", {"settings": "max_split_size_mb:128", "capacity": "8GiB",
                "release": "2.6", "compare": True},
     ["replay", "--alloc-conf", "max_split_size_mb:128", "--capacity", "8GiB",
      "--torch", "2.6", "--compare"]),
    ("replay", {"capacity": 8 << 30, "compare": False, "settings": None},
     ["replay", "--capacity", "8GiB"]),
    ("suggest", {"capacity": "5GiB", "without": ["expandable_segments"]},
     ["suggest", "--capacity", "5GiB", "--without", "expandable_segments"]),
    ("explain", {"details": True, "capacity": "5GiB"},
     ["explain", "--details", "--capacity", "5GiB"]),
    ("sweep", {"set": ["max_split_size_mb=64,128"], "rank_by": "retries"},
     ["sweep", "--set", "max_split_size_mb=64,128", "--rank-by", "retries"]),
    ("sweep", {"rank_by": "gap"}, ["sweep", "--rank-by", "gap"]),
    ("who_holds", {"at": "peak", "by": "size", "rows": 5},
     ["view", "holders", "--at", "peak", "--by", "size", "--rows", "5"]),
    ("who_holds", {"device": 0, "capacity": "2GiB"},
     ["view", "holders", "--device", "0", "--capacity", "2GiB"]),
    ("info", {}, ["info"]),
]


def test_same_as_the_command_line():
    server = Server()
    for tool, arguments, words in SAME:
        result = server.call(tool, trace=TRACE, **arguments)
        assert not result["isError"], result
        text = run(*words, "-q", TRACE).stdout.rstrip("\n")
        assert result["content"] == [{"type": "text", "text": text}], tool
        report = json.loads(run(*words, "-q", "--format", "json",
                                TRACE).stdout)
        told = result["structuredContent"]
        assert told == {key: report[key] for key in told}, tool
        left_out = set(report) - set(told)
        assert not left_out or tool == "sweep", left_out
    assert server.end() == []


def test_schemas_hold():
    server = Server()
    tools = {tool["name"]: tool
             for tool in server.ask("tools/list")["result"]["tools"]}
    assert set(tools) == {same[0] for same in SAME}
    for tool, arguments, _ in SAME:
        schema = tools[tool]["inputSchema"]
        assert schema["required"] == ["trace"]
        assert set(arguments) < set(schema["properties"])
        assert schema["additionalProperties"] is False
    assert server.end() == []


def test_which_take_a_folder():
    server = Server()
    with tempfile.TemporaryDirectory() as folder:
        for name in "01":
            shutil.copy(SMALL, os.path.join(folder, f"rank{name}.json"))
        for tool in server.ask("tools/list")["result"]["tools"]:
            told = tool["inputSchema"]["properties"]["trace"]["description"]
            is_error = server.call(tool["name"], trace=folder)["isError"]
            assert is_error == ("folder" not in told), tool["name"]
    assert server.end() == []


def test_sentences():
    server = Server()
    for tool, arguments, words in [
            ("replay", {"capacity": "5 giraffes"},
             ["replay", "--capacity=5 giraffes"]),
            ("replay", {"settings": "no_such:1"},
             ["replay", "--alloc-conf=no_such:1"]),
            ("suggest", {"release": "1.0"}, ["suggest", "--torch=1.0"]),
            ("sweep", {"settings": ["no_such:1"]},
             ["sweep", "--alloc-conf=no_such:1"])]:
        result = server.call(tool, trace=TRACE, **arguments)
        assert result["isError"] and "structuredContent" not in result
        said = run(*words, "-q", TRACE)
        assert said.returncode > 1
        assert result["content"][0]["text"] == said.stderr.rstrip("\n")
    bad = os.path.join(TRACES, "tiny")
    assert "did you mean trace?" in server.text("info", trase=bad)
    assert "which trace is not given" in server.text("info")
    error = server.ask("tools/call", {"name": "rm"})["error"]
    assert error["code"] == -32602 and "rm" in error["message"]
    assert server.ask("resources/list")["error"]["code"] == -32601
    assert server.end() == []


def test_kept_and_read_again():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.json")
        with open(SMALL, "rb") as file:
            small = file.read()
        with open(path, "wb") as file:
            file.write(small)
        server = Server()
        before = server.text("info", trace=path)
        # A change that cannot be detected: the file is not read again.
        stamp = os.stat(path).st_mtime_ns
        with open(path, "r+b") as file:
            file.write(b"{" * len(small))
        os.utime(path, ns=(stamp, stamp))
        assert server.text("info", trace=path) == before
        os.utime(path)
        assert server.call("info", trace=path)["isError"]
        # More traces than are held.
        for number in range(20):
            other = os.path.join(folder, f"{number}.json")
            with open(other, "wb") as file:
                file.write(small)
            assert not server.call("info", trace=other)["isError"]
        assert server.end() == []


def test_names_of_files():
    with tempfile.TemporaryDirectory() as folder:
        server = Server(cwd=folder)
        os.mkfifo(os.path.join(folder, "pipe"))
        for name in ["pipe", "/dev/stdin", "/dev/zero", "-", "--output=owned",
                     "-oowned", "no such", "", "\x1b[31m\u202e::error::x",
                     "x" * 5000]:
            result = server.call("replay", trace=name)
            assert result["isError"], name
            told = result["content"][0]["text"]
            assert told.startswith("gpupool: replay: "), told
            assert "\x1b" not in told and "\u202e" not in told
        assert os.listdir(folder) == ["pipe"]
        assert server.end() == []


def link_out(inside, outside):
    """Links in a folder of ranks that lead out of it are not followed
    either."""
    with open(os.path.join(outside, "secret.json"), "w") as file:
        file.write("no trace")
    os.symlink("t.json", os.path.join(inside, "near.json"))
    for name in ("t.json", "secret.json", "none.json"):
        os.symlink(os.path.join(outside, name),
                   os.path.join(inside, "link-" + name))
    server = Server(inside)
    for tool in ("info", "replay", "suggest", "sweep", "who_holds"):
        told = server.call(tool, trace=inside)
        text = told["content"][0]["text"]
        if tool == "who_holds":
            assert told["isError"], told
            continue
        assert not told["isError"], text
        for name in ("t.json", "secret.json", "none.json"):
            assert (f"link-{name}: cannot be read: it leads out of the "
                    "folders that may be read") in text, text
        ranks = told["structuredContent"]["ranks"]
        assert ranks["files"] == 2 and len(ranks["unread"]) == 3, ranks
    assert server.end() == []


def test_changed_rank():
    """A file that is held and then changes is read again, in its folder."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.json")
        for steps in (1, 3):
            said = run("gen", "transformer", f"steps={steps}", "-o",
                       os.path.join(folder, f"{steps}.json"))
            assert said.returncode == 0, said.stderr
        os.rename(os.path.join(folder, "1.json"), path)
        three = os.path.join(folder, "3.json")
        server = Server(folder)
        first = server.call("replay", trace=path)
        os.replace(three, path)
        second = server.call("replay", trace=folder)
        assert (first["structuredContent"]["runs"]
                != second["structuredContent"]["runs"])
        assert server.end() == []


def test_folders():
    with tempfile.TemporaryDirectory() as folder:
        inside, outside = (os.path.join(folder, name)
                           for name in ("in", "in-not"))
        for path in (inside, outside):
            os.mkdir(path)
            with open(SMALL, "rb") as small:
                with open(os.path.join(path, "t.json"), "wb") as file:
                    file.write(small.read())
        os.symlink(outside, os.path.join(inside, "way-out"))
        server = Server(inside)
        assert not server.call("info", trace=f"{inside}/t.json")["isError"]
        for path in (f"{outside}/t.json", f"{inside}/../in-not/t.json",
                     f"{inside}/way-out/t.json", SMALL, "/", folder,
                     f"{inside}/none.json"):
            told = server.call("info", trace=path)
            assert told["isError"], path
            said, hint = told["content"][0]["text"].splitlines()
            assert "not in a folder" in said, told
            assert hint == f"name a trace with its folder: {inside}", told
        assert server.end() == []
        link_out(inside, outside)
        assert run("mcp", SMALL).returncode == 3


AXES = ["max_split_size_mb=32..2048*2", "roundup_power2_divisions=1,2,4"]


def slow_trace(folder):
    """A trace whose sweep takes at least two seconds on this machine."""
    path = os.path.join(folder, "slow.gpt")
    for steps in (1000, 3000, 10000, 30000):
        said = run("gen", "transformer", f"steps={steps}", "--format",
                   "binary", "-o", path)
        assert said.returncode == 0, said.stderr
        began = time.monotonic()
        said = run("sweep", "-q", "--set", AXES[0], "--set", AXES[1], path)
        assert said.returncode == 0, said.stderr
        if time.monotonic() - began > 2:
            break
    return path


def test_while_it_runs():
    """Progress, a ping and cancellations in the middle of a call."""
    with tempfile.TemporaryDirectory() as folder:
        path = slow_trace(folder)
        server = Server()
        sweep = {"name": "sweep", "arguments": {
            "trace": path, "set": AXES}}
        first = server.start("tools/call",
                             dict(sweep, _meta={"progressToken": "mine"}))
        second = server.start("tools/call", sweep)
        third = server.start("tools/call", {
            "name": "info", "arguments": {"trace": SMALL}})
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled",
                     "params": {"requestId": second}})
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled",
                     "params": {"requestId": "never was"}})
        ping = server.start("ping")
        assert server.get()["id"] == ping
        seconds = []
        while "method" in (message := server.get()):
            params = message["params"]
            assert params["progressToken"] == "mine", message
            seconds.append(params["progress"])
        assert message["id"] == first and not message["result"]["isError"]
        assert seconds == sorted(set(seconds)), seconds
        assert seconds, "it took less than a second"
        assert server.get()["id"] == third
        # The answer of a cancelled call is dropped.
        fourth = server.start("tools/call", sweep)
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled",
                     "params": {"requestId": fourth}})
        fifth = server.start("tools/call", {
            "name": "info", "arguments": {"trace": SMALL}})
        assert [message["id"] for message in server.end()] == [fifth]


def test_a_cancelled_sweep_ends():
    """An hour's work does not block the next question."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.gpt")
        said = run("gen", "transformer", "steps=300", "-o", path)
        assert said.returncode == 0, said.stderr
        server = Server()
        for _ in range(2):
            sweep = server.start("tools/call", {
                "_meta": {"progressToken": 1},
                "name": "sweep", "arguments": {"trace": path, "set": [
                    "max_split_size_mb=21..2020+1",
                    "garbage_collection_threshold=0.1..0.9+0.1"]}})
            told = server.get()
            assert told.get("params", {}).get("progress"), told
            server.send({"jsonrpc": "2.0", "method": "notifications/cancelled",
                         "params": {"requestId": sweep}})
            info = server.start("tools/call", {
                "name": "info", "arguments": {"trace": SMALL}})
            while "id" not in (message := server.get()):
                pass
            assert message["id"] == info, message
        # The next message is whole.
        told = server.call("sweep", trace=SMALL, set=AXES)
        assert not told["isError"], told
        assert server.end() == []


def test_batches():
    server = Server()
    two = [{"jsonrpc": "2.0", "id": "a", "method": "ping"},
           {"jsonrpc": "2.0", "method": "notifications/initialized"},
           {"jsonrpc": "2.0", "id": "b", "method": "tools/call", "params": {
               "name": "info", "arguments": {"trace": SMALL}}}, 7]
    server.send(two)
    assert server.get()["error"]["code"] == -32600
    server.ask("initialize", {"protocolVersion": "2025-03-26"})
    server.send(two)
    answers = server.get()
    assert {answer["id"] for answer in answers} == {"a", "b", None}
    server.send([{"jsonrpc": "2.0", "method": "notifications/x"}])
    server.send([])
    assert server.get()["error"]["code"] == -32600
    assert server.end() == []


def test_too_many():
    server = Server()
    server.start("tools/call", {"name": "suggest",
                                "arguments": {"trace": TRACE}})
    for _ in range(500):
        server.start("tools/call", {"name": "info",
                                    "arguments": {"trace": SMALL}})
    answers = server.end()
    assert len(answers) == 501
    codes = {answer["error"]["code"] for answer in answers
             if "error" in answer}
    assert codes == {-32000}
    assert sum("result" in answer for answer in answers) >= 65


def test_hostile_lines():
    server = Server()
    server.serial = 1000
    for line in [b"", b" ", b"\x00", b"\xff\xfe", b"null", b"7", b'"x"',
                 b"{}", b"[[]]", b"[" * 100000, b'{"a":' * 100000,
                 b'{"jsonrpc":"2.0","id":1,"method":"ping"',
                 b'{"jsonrpc":"1.0","id":1,"method":"ping"}',
                 b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
                 b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
                 b'{"jsonrpc":"2.0","id":{},"method":"ping"}',
                 b'{"jsonrpc":"2.0","id":1,"method":7}',
                 b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
                 b'{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}',
                 b'{"jsonrpc":"2.0","method":"notifications/cancelled"}',
                 b'{"jsonrpc":"2.0","id":1,"result":{}}',
                 b'{"jsonrpc":"2.0","id":1,"error":{}}',
                 b'{"method":"\xc3\x28"}']:
        server.send_bytes(line + b"\n")
    # Far more than the longest line, in two writes; the next line is read
    # again.
    for _ in range(2):
        for _ in range(64):
            server.send_bytes(b"x" * (1 << 18))
        server.send_bytes(b"\n")
    ping = server.start("ping")
    overlong = 0
    while (message := server.get()).get("id") != ping:
        assert message["error"]["code"] in (-32700, -32600), message
        overlong += "longer" in message["error"]["message"]
    assert overlong == 2, overlong
    assert server.peak_bytes() < 200 << 20, server.peak_bytes()
    assert server.end() == []


def test_nul_and_other_json():
    """Valid JSON is answered in JSON; for anything else the answer says why
    not."""
    server = Server()
    for params in (
            {"name": "info", "arguments": {"trace": SMALL + "\0.pickle"}},
            {"name": "info\0", "arguments": {"trace": SMALL}},
            {"name": "info", "arguments": {"trace": SMALL, "x": ["\0"]}}):
        error = server.ask("tools/call", params)["error"]
        assert error["code"] == -32602, error
        assert "\\u0000" in error["message"], error
    for line, word in ((b'{"a\\u0000":1}', "NUL"), (b'"\\ud800"', "D800"),
                       (b'{"id":1,}', "expected"), (b"nul", "invalid token")):
        server.send_bytes(line + b"\n")
        error = server.get()["error"]
        assert error["code"] == -32700, error
        assert word.lower() in error["message"].lower(), error
    assert server.end() == []


def test_a_rank_that_cannot_be_read():
    """The report is there, and names the rank that is missing."""
    with tempfile.TemporaryDirectory() as folder:
        with open(SMALL, "rb") as file:
            small = file.read()
        for name, data in (("rank0.json", small), ("rank1.json", b"")):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)
        server = Server()
        for tool in ("replay", "explain", "suggest", "sweep", "info"):
            result = server.call(tool, trace=folder)
            text = result["content"][0]["text"]
            assert not result["isError"], text
            assert "rank1.json: cannot be read: it is empty" in text, text
            assert "1 of 2 traces cannot be read" in text, text
            assert "structuredContent" in result, tool
        server.end()


def alter(value, dice):
    """Replaces one of the values within by another."""
    if isinstance(value, dict) and value and dice.random() < 0.8:
        key = dice.choice(sorted(value))
        return {**value, key: alter(value[key], dice)}
    return dice.choice([None, True, -1, 1 << 62, 1.5, "", "x" * 300, "\x07",
                        "-", "--help", [], {}, [[]], {"trace": 1}, "..", "/",
                        ["a", 1], "\ud7ff", "NaN", 1e308])


def test_altered_messages():
    """Each is answered or ignored, and the server survives."""
    dice = random.Random(20261122)
    server = Server()
    for number in range(2000):
        tool, arguments, _ = dice.choice(SAME)
        message = {"jsonrpc": "2.0", "id": number, "method": "tools/call",
                   "params": {"name": tool, "arguments": {
                       "trace": SMALL, **arguments},
                       "_meta": {"progressToken": number}}}
        for _ in range(dice.randint(1, 3)):
            message = alter(message, dice)
        server.send(message)
        if number % 20 == 19:
            ping = server.start("ping")
            server.send({"jsonrpc": "2.0", "id": "last",
                         "method": "tools/call", "params": {
                             "name": "info", "arguments": {"trace": SMALL}}})
            while server.get().get("id") != "last":
                pass
            assert ping
    # A sanitizer keeps freed memory, up to 256 MiB.
    most = 800 << 20 if "address" in GPUPOOL else 400 << 20
    assert server.peak_bytes() < most, server.peak_bytes()
    server.end()


def main():
    failed = 0
    tests = [(name[len("test_"):].replace("_", "-"), test)
             for name, test in globals().items() if name.startswith("test_")]
    for name, test in tests:
        began = time.monotonic()
        try:
            test()
            print(f"ok mcp-{name}", flush=True)
        except Exception as why:  # whatever it is, the others run
            failed = 1
            print(f"FAIL mcp-{name}: {type(why).__name__}: {str(why)[:300]}",
                  flush=True)
        if os.environ.get("TIMES"):
            print(f"  {time.monotonic() - began:.1f} s")
    return failed


if __name__ == "__main__":
    sys.exit(main())
