# SPDX-License-Identifier: MIT
"""Other processes that use the device, or do not."""
import os
import subprocess
import sys
import time

import torch
import torch.multiprocessing


def use(count):
    return [torch.empty(1 << 20, device="cuda") for _ in range(count)]


def work(rank):
    use(2 + rank)


def fork(before):
    if not before:
        mine = use(1)
    child = os.fork()
    if not child:
        if before:
            use(2)
        os._exit(0)
    os.waitpid(child, 0)
    use(1)


def go_on():
    """A child that uses the device after its parent has ended."""
    mine = use(1)
    subprocess.Popen([sys.executable, __file__, "slowly"])
    while not os.path.exists("begun"):
        time.sleep(0.01)


def slowly():
    mine = use(2)
    open("begun", "w").close()
    while not os.path.exists("stop"):
        time.sleep(0.01)
    more = use(5000)
    open("survived", "w").close()


def become():
    mine = use(1)
    os.execv(sys.executable, [sys.executable, __file__, "use"])


def run():
    mine = use(1)
    print(subprocess.run([sys.executable, __file__, "use"]).returncode)
    print(subprocess.run(["echo", "said"], capture_output=True).stdout)


def spawn():
    mine = use(1)
    torch.multiprocessing.spawn(work, nprocs=2)


KINDS = {
    "fork": lambda: fork(False),
    "fork-before": lambda: fork(True),
    "go-on": go_on,
    "slowly": slowly,
    "become": become,
    "run": run,
    "use": lambda: use(3),
    "spawn": spawn,
}

if __name__ == "__main__":
    KINDS[sys.argv[1]]()
