"""Other processes that use the device, or do not."""
import os
import subprocess
import sys

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


def run():
    mine = use(1)
    print(subprocess.run([sys.executable, __file__, "use"]).returncode)
    print(subprocess.run(["echo", "said"], capture_output=True).stdout)


if __name__ == "__main__":
    kind = sys.argv[1]
    if kind == "fork":
        fork(False)
    elif kind == "fork-before":
        fork(True)
    elif kind == "run":
        run()
    elif kind == "use":
        use(3)
    elif kind == "spawn":
        mine = use(1)
        torch.multiprocessing.spawn(work, nprocs=2)
