# SPDX-License-Identifier: MIT
"""First fit, like first_fit.c beside it, with exactly the same blocks."""
import bisect

import gpupool_engine

GRAIN = 512
ADDRESSES = 1 << 47
PAGE = gpupool_engine.PAGE


def up(size, to):
    return -(-size // to) * to


class FirstFit:
    """the lowest free range that is long enough, in Python"""

    def __init__(self, memory):
        self.memory = memory
        self.end = memory.reserve(ADDRESSES)
        self.limit = self.end + ADDRESSES
        self.starts, self.sizes = [], []  # of the free ranges, by address

    def give(self, start, size):
        i = bisect.bisect(self.starts, start)
        if i < len(self.starts) and start + size == self.starts[i]:
            size += self.sizes[i]
            del self.starts[i], self.sizes[i]
        if i and self.starts[i - 1] + self.sizes[i - 1] == start:
            self.sizes[i - 1] += size
        else:
            self.starts.insert(i, start)
            self.sizes.insert(i, size)

    def at_end(self):
        """The size of the free range at the end."""
        if self.starts and self.starts[-1] + self.sizes[-1] == self.end:
            return self.sizes[-1]
        return 0

    def grow(self, size):
        more = up(size - self.at_end(), PAGE)
        if more > self.limit - self.end or not self.memory.map(self.end, more):
            return False
        self.end += more
        self.give(self.end - more, more)
        return True

    def alloc(self, ask):
        size = up(ask.size, GRAIN)
        for i, there in enumerate(self.sizes):
            if there >= size:
                return self.cut(i, size), size
        if size > ADDRESSES or not self.grow(size):
            return None
        return self.cut(len(self.sizes) - 1, size), size

    def cut(self, i, size):
        start = self.starts[i]
        self.starts[i] += size
        self.sizes[i] -= size
        if not self.sizes[i]:
            del self.starts[i], self.sizes[i]
        return start

    def free(self, start, size):
        self.give(start, size)

    def trim(self):
        size = self.at_end() // PAGE * PAGE
        if not size:
            return
        self.end -= size
        self.sizes[-1] -= size
        if not self.sizes[-1]:
            del self.starts[-1], self.sizes[-1]
        self.memory.unmap(self.end, size)


table = gpupool_engine.table(FirstFit, "first fit")
