#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""That each link of the pages in a folder leads somewhere: links.py FOLDER"""
import os
import sys
from html.parser import HTMLParser


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.links = set(), []
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids.add(attributes.get("id"))
        for name in ("href", "src"):
            if name in attributes:
                self.links.append(attributes[name])


def main():
    folder = sys.argv[1]
    pages = {name: Page(os.path.join(folder, name))
             for name in os.listdir(folder) if name.endswith(".html")}
    bad, count = [], 0
    for name, page in pages.items():
        for link in page.links:
            count += 1
            file, _, anchor = link.partition("#")
            if link.startswith("https://"):
                # One of our pages must not link to another project's.
                if "debian.org/gpupool" in link:
                    bad.append(f"{name}: {link}")
            elif file and not os.path.exists(os.path.join(folder, file)):
                bad.append(f"{name}: {link}: no file")
            elif anchor and anchor not in pages[file or name].ids:
                bad.append(f"{name}: {link}: no anchor")
    reached = {link.partition("#")[0] for link in pages["index.html"].links}
    bad += [f"{name} is not on the start page"
            for name in pages if name not in reached | {"index.html"}]
    print(f"{count} links; {len(bad)} lead nowhere: " + "; ".join(bad[:5]))
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
