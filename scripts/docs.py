#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The manual pages as HTML, with a start page: docs.py PROGRAM FOLDER

mandoc writes them.  A link to a page of another program goes to
manpages.debian.org.
"""
import base64
import hashlib
import html
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MAN = os.path.join(ROOT, "man")
PARTS = os.path.join(ROOT, "docs", "html")
OTHERS = "https://manpages.debian.org/"
SECTIONS = {"1": "Commands", "5": "Files", "7": "Topics"}

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<link rel="stylesheet" href="style.css">
<title>{title}</title>
</head>
<body{kind}>
{body}
</body>
</html>
"""
POLICY = "default-src 'none'; style-src 'self' file:; img-src 'self' file:"

START = """<h1>gpupool {version}</h1>
<p>What a PyTorch program does with GPU memory, replayed exactly, without a GPU.
Begin with <a href="gpupool.1.html">gpupool</a> or, of a run that ended out of
memory, with <a href="gpupool-look.1.html">gpupool snapshot.pickle</a>.</p>
<p hidden><input type="search" aria-label="Search in pages, flags and keys"
placeholder="Search in pages, flags and keys"></p>
<div class="lists" id="pages">
{pages}
</div>
<div class="lists" id="found" hidden>
<ul>
{found}
</ul>
</div>
<p id="none" hidden>Nothing has all of these words.</p>
<footer>Each page is also there as <kbd>man gpupool</kbd> and so on.
<a href="gpupool-report.schema.json">The JSON Schema</a> of reports.</footer>
<script>{script}</script>"""


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def name_of(page):
    """"gpupool-check.1": "gpupool check", as it is typed."""
    name, section = page.rsplit(".", 1)
    return name.replace("-", " ", 1) if section == "1" else page


def sentence_of(page):
    return re.search(r"^\.Nd (.*)", read(MAN, page), re.M).group(1)


def item(target, name, text):
    return (f'<li><a href="{target}">{html.escape(name)}</a> '
            f"{html.escape(text)}</li>")


def convert(page, pages):
    """The page's HTML, and its search targets: anchors, by name."""
    body = subprocess.run(
        ["mandoc", "-T", "html", "-O", "fragment,man=%N.%S.html",
         os.path.join(MAN, page)],
        check=True, capture_output=True, text=True).stdout
    body = re.sub(r'(<a class="Xr" href=")([^"]+)\.html"',
                  lambda m: m.group(0) if m.group(2) in pages
                  else f'{m.group(1)}{OTHERS}{m.group(2)}"', body)
    title = html.escape(name_of(page))
    top = f'<nav><a href="index.html">gpupool</a> / {title}</nav>\n'
    text = PAGE.format(policy=POLICY, title=title, kind="", body=top + body)
    anchors = {}
    for match in re.finditer(
            r'<a class="permalink" href="#([^"]+)">'
            r'<code class="(?:Fl|Cm|Li|Ev)">([^<]+)</code>', body):
        # mandoc writes --flag as Fl of -flag.
        anchors.setdefault(html.unescape(match.group(2)), match.group(1))
    return text, anchors


def link_sections(page, texts):
    """A page's HTML, in which references to sections of other pages are
    links."""
    homes = {}
    for other, text in sorted(texts.items(), reverse=True):
        for anchor in re.findall(r'<h[12] class="S[hs]" id="([^"]+)"', text):
            homes[anchor] = other
    own = texts[page]

    def link(match):
        anchor = match.group(1)
        if f'id="{anchor}"' in own or anchor not in homes:
            return match.group(0)
        return f'<a class="Sx" href="{homes[anchor]}.html#{anchor}"'

    return re.sub(r'<a class="Sx" href="#([^"]+)"', link, own)


def start_page(pages, anchors, version):
    lists = []
    for section, title in SECTIONS.items():
        rows = [item(f"{page}.html", name_of(page), sentence_of(page))
                for page in pages if page.endswith("." + section)]
        lists.append(f"<h2>{title}</h2>\n<ul>\n" + "\n".join(rows) + "\n</ul>")
    found = [item(f"{page}.html", name_of(page), sentence_of(page))
             for page in pages]
    found += [item(f"{page}.html#{anchor}", f"{name_of(page)} {name}", "")
              for page in pages
              for name, anchor in sorted(anchors[page].items())]
    script = read(PARTS, "search.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest())
    return PAGE.format(
        policy=f"{POLICY}; script-src 'sha256-{digest.decode()}'",
        title="gpupool", kind=' class="start"',
        body=START.format(version=version, pages="\n".join(lists),
                          found="\n".join(found), script=script))


def make(program, folder):
    pages = sorted(name for name in os.listdir(MAN) if name[-2] == ".")
    texts, anchors = {}, {}
    for page in pages:
        texts[page], anchors[page] = convert(page, pages)
    for page in pages:
        write(folder, f"{page}.html", link_sections(page, texts))
    said = subprocess.run([program, "--version"], check=True,
                          capture_output=True, text=True).stdout
    write(folder, "index.html",
          start_page(pages, anchors, html.escape(said.split()[1])))
    shutil.copy(os.path.join(PARTS, "style.css"), folder)
    schema = subprocess.run([program, "help", "report-schema"], check=True,
                            capture_output=True, text=True).stdout
    write(folder, "gpupool-report.schema.json", schema)


def main():
    program, target = os.path.abspath(sys.argv[1]), sys.argv[2]
    if not shutil.which("mandoc"):
        sys.exit("docs.py: mandoc is not on this machine")
    os.makedirs(os.path.dirname(os.path.abspath(target)), exist_ok=True)
    with tempfile.TemporaryDirectory(
            dir=os.path.dirname(os.path.abspath(target))) as folder:
        os.chmod(folder, 0o755)
        made = os.path.join(folder, "docs")
        os.mkdir(made)
        make(program, made)
        shutil.rmtree(target, ignore_errors=True)
        os.rename(made, target)


if __name__ == "__main__":
    main()
