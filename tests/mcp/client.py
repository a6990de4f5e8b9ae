#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gpupool mcp by the client that assistants are built with, the package mcp of
PyPI: client.py GPUPOOL TRACE

It validates every message by the protocol's schema, of the newest revision and
of those with a handshake.
"""
import asyncio
import json
import os
import subprocess
import sys

from mcp import Client, StdioServerParameters

GPUPOOL, TRACE = (os.path.abspath(path) for path in sys.argv[1:])


def replay_json(*words):
    return json.loads(subprocess.run(
        [GPUPOOL, *words, "-q", "--format", "json", TRACE], check=True,
        capture_output=True).stdout)


async def hold(mode):
    server = StdioServerParameters(command=GPUPOOL, args=["mcp"])
    async with Client(server, mode=mode) as client:
        tools = (await client.list_tools()).tools
        names = {tool.name for tool in tools}
        assert {"replay", "suggest", "explain", "sweep"} <= names, names
        result = await client.call_tool("suggest", {
            "trace": TRACE, "capacity": "5GiB"})
        assert not result.is_error
        assert result.structured_content == replay_json(
            "suggest", "--capacity", "5GiB")
        assert "PYTORCH_CUDA_ALLOC_CONF=" in result.content[0].text
        result = await client.call_tool("replay", {
            "trace": TRACE, "settings": "max_split_size_mb:128"})
        assert result.structured_content == replay_json(
            "replay", "--alloc-conf", "max_split_size_mb:128")
        result = await client.call_tool("replay", {"trace": "/none.pickle"})
        assert result.is_error
        assert "/none.pickle" in result.content[0].text


def main():
    failed = 0
    for mode in ("auto", "legacy"):
        try:
            asyncio.run(asyncio.wait_for(hold(mode), 300))
            print(f"ok mcp-client-{mode}")
        except Exception as why:  # whatever it is, the other one runs
            failed = 1
            print(f"FAIL mcp-client-{mode}: {type(why).__name__}: {why}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
