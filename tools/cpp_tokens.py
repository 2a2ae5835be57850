# SPDX-License-Identifier: MIT
"""Tokens of C++, and what the tokens of one declaration say: where its parameters are, its name, its initializer."""
import dataclasses
import re

TOKEN = re.compile(r"""
    (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<directive>^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*)
  | (?P<string>R"(\w*)\(.*?\)\4"|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+')
  | (?P<word>[A-Za-z_]\w*)
  | (?P<number>\.?\d(?:'?[\w.])*)
  | (?P<mark><=>|->\*|\.\.\.|<<=|::|->|&&|\|\||<<|[-+*/%^&|=!<>]=|\+\+|--|[^\s\w])
""", re.VERBOSE | re.DOTALL | re.MULTILINE)
OPENING = {"(": ")", "[": "]", "{": "}"}


@dataclasses.dataclass
class Token:
    kind: str
    text: str
    start: int
    end: int


def tokens_of(text):
    return [Token(m.lastgroup, m.group(), m.start(), m.end()) for m in TOKEN.finditer(text)]


def is_copy_or_move(tokens, of_class):
    inside = [t.text for t in tokens[1:]]
    return inside[:2] == [of_class, "&&"] or inside[:3] == [of_class, "const", "&"]


def parameter_list(tokens):
    """The index of the parenthesis that opens the parameters; None: a variable."""
    at, angle = 0, 0
    while at < len(tokens):
        text = tokens[at].text
        if text == "operator":
            at += 1
            while tokens[at].text != "(" or tokens[at + 1].text == ")" and at + 2 < len(tokens) and tokens[at + 2].text == "(":
                at += 2 if tokens[at].text == "(" else 1
            return at
        if text == "=" and angle == 0:
            return None
        if text == "requires":
            return parameter_list_after_requires(tokens, at)
        angle += {"<": 1, ">": -1}.get(text, 0)
        if text == "(" and tokens[at + 1].text == "*":
            return None
        if text == "(" and angle == 0 and at > 0 and tokens[at - 1].kind == "word" and tokens[at - 1].text not in ("explicit", "alignas", "decltype"):
            return at
        if text in OPENING:
            at = index_of_closing(tokens, at)
        at += 1
    return None


def parameter_list_after_requires(tokens, at):
    end = index_of_closing(tokens, at + 1)
    rest = parameter_list(tokens[end + 1:])
    return None if rest is None else rest + end + 1


def index_of_closing(tokens, at):
    depth = 0
    for index in range(at, len(tokens)):
        depth += (tokens[index].text in OPENING) - (tokens[index].text in OPENING.values())
        if depth == 0:
            return index
    raise ValueError(f"no closing bracket for {tokens[at].text}")


def assignment(tokens):
    angle = depth = 0
    for index, token in enumerate(tokens):
        if token.text == "operator":
            return None
        depth += (token.text in OPENING) - (token.text in OPENING.values())
        angle += {"<": 1, ">": -1}.get(token.text, 0)
        if token.text == "=" and depth == 0 and angle <= 0:
            return index
    return None


def function_name(tokens, paren):
    for index in range(paren):
        if tokens[index].text == "operator":
            parts = [t.text for t in tokens[index + 1:paren]]
            return "operator" + (" " if parts[0][0].isalpha() else "") + " ".join(parts).replace(" :: ", "::").replace("( )", "()").replace("[ ]", "[]")
    name = tokens[paren - 1].text
    return "~" + name if paren > 1 and tokens[paren - 2].text == "~" else name
