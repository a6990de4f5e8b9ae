# SPDX-License-Identifier: MIT
"""The single changes that can be made to a C file."""
import collections
import re

TOKEN = re.compile(r"""
    (?P<space>\s+ | //[^\n]* | /\*.*?\*/ | ^\#(?:[^\n\\]|\\.|\\\n)*)
  | (?P<text>"(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*')
  | (?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<mark><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
""", re.X | re.S | re.M)
INSTEAD = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
           "+": "-", "-": "+", "&&": "||", "||": "&&"}
# Code that is decided at build time, or that holds for our own code, whatever
# the input.
NOT_CODE = ("assert", "_Static_assert", "static_assert", "unreachable")
# Constants of which a larger value only makes unused room.
ROOM = ("gp_mem_alloc", "gp_mem_grow", "GP_GROW")
# Comparisons for sorting, of whose results only the sign matters.
ORDER = "by_"

# at: the place in the file. key: identifies the change even if the line moves.
Change = collections.namedtuple("Change", "file line at old new key")


def tokens(text):
    """Kind, text and place of each token except white space and comments."""
    for match in TOKEN.finditer(text):
        if match.lastgroup != "space":
            yield match.lastgroup, match.group(), match.start()


def instead_of(kind, token, before):
    """The replacement of a token; None: it stays. before: the previous token's
    kind and text."""
    if kind == "number" and re.fullmatch(r"\d+", token):
        return str(int(token) + 1)
    if kind != "mark" or token not in INSTEAD:
        return None
    is_binary = before[0] in ("name", "number", "text") and \
        before[1] != "return" or before[1] in (")", "]")
    return INSTEAD[token] if is_binary else None


def key_of(text, at, old, new, function):
    begin = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    marked = f"{text[begin:at]}[{old} => {new}]{text[at + len(old):end]}"
    return f"{function}: {' '.join(marked.split())}"


def of(file, text):
    """Every possible change within a function of the file."""
    depth = parens = skipped = room = brackets = 0
    function = name = ""
    before = ("", "")
    found = []
    times = collections.Counter()
    for kind, token, at in tokens(text):
        if token == "{":
            # The body of a function follows its parameters.
            if depth == 0:
                function = name if before[1] == ")" else ""
            depth += 1
        elif token == "}":
            depth -= 1
        elif token == "(":
            if parens == 0 and depth == 0 and before[0] == "name":
                name = before[1]
            parens += 1
            if before[1] in NOT_CODE and not skipped:
                skipped = parens
            if before[1] in ROOM:
                room = parens
        elif token == ")":
            if parens == skipped:
                skipped = 0
            if parens == room:
                room = 0
            parens -= 1
        elif token in ("[", "]"):
            brackets += 1 if token == "[" else -1
        new = instead_of(kind, token, before)
        is_more_room = parens and parens == room and not brackets and \
            kind == "number" and before[1] in ("+", "*", ",", "(", ")")
        is_sign = function.startswith(ORDER) and token == "1" and \
            before[1] in ("-", "?", ":")
        if new and depth and function and not skipped and \
                not is_more_room and not is_sign:
            key = key_of(text, at, token, new, function)
            times[key] += 1
            if times[key] > 1:
                key += f" ({times[key]})"
            found.append(Change(file, text.count("\n", 0, at) + 1, at, token,
                                new, key))
        before = (kind, token)
    return found
