# SPDX-License-Identifier: MIT
"""Functions on strings that torch.jit.script compiles: every method of str and every function that makes or reads a string."""

from typing import Dict, List, Optional, Tuple  # noqa: UP035: torch.jit.script reads them

import torch
from torch import Tensor


def codes(texts: List[str]) -> Tensor:
    """The characters of all texts, with 0 after each."""
    out: List[int] = []
    for text in texts:
        for c in text:
            out.append(ord(c))
        out.append(0)
    return torch.tensor(out)


def flags(all: List[bool]) -> Tensor:
    out = [7]
    for each in all:
        out.append(int(each))
    return torch.tensor(out)


def t(x: Tensor, text: str) -> str:
    """The text, which torch.jit.script does not know before it runs: it computes functions of constants itself."""
    return [text][x.dim() - 2]


def text_case(x: Tensor):
    s = t(x, "hELLO wORLD 4th o'neil_x")
    return codes([s.lower(), s.upper(), s.capitalize(), s.title(), s.swapcase(), t(x, "").capitalize(), t(x, "4ab cd").title()])


def text_is_kind(x: Tensor):
    out: List[bool] = []
    for s in ["", "abc", "ABC", "Abc", "ab1", "12", " \t\n", "a b", "A1", "Ab Cd", "aB", "_a", "1a", "a\x01", "-1", "Ab cd"]:
        out += [s.isdigit(), s.isalpha(), s.isalnum(), s.isspace(), s.islower(), s.isupper(), s.istitle()]
        out += [s.isdecimal(), s.isnumeric(), s.isidentifier(), s.isprintable()]
    return flags(out)


def text_strip(x: Tensor):
    s = t(x, " \t ab c \n")
    return codes([s.strip(), s.lstrip(), s.rstrip(), t(x, "xxaxbyx").strip("xy"), t(x, "xxaxbyx").lstrip("x"), t(x,
                  "xxaxbyx").rstrip("yx"),
                  t(x, "").strip(), t(x, "abc").strip("")])


def text_split(x: Tensor):
    return codes(t(x, "a,b,,c,").split(",")) + len(t(x, "  a  b c ").split())


def text_split_most(x: Tensor):
    return codes(t(x, "a--b--c--d").split("--", 2) + t(x, "a b  c d").split(" ", 1) + t(x, "  a  b  c ").split(None, 1) + t(x,
                 "a b").split(" ", 0))


def text_rsplit(x: Tensor):
    return codes(t(x, "a--b--c--d").rsplit("--", 2) + t(x, "a b c d").rsplit(" ", 1) + t(x, "x,y,z").rsplit(",") + ["q"])


def text_splitlines(x: Tensor):
    return codes(t(x, "a\nb\n\nc\x0bd\n").splitlines() + t(x, "a\n\nb").splitlines(True) + t(x, "one").splitlines())


def text_join(x: Tensor):
    empty: List[str] = []
    return codes([t(x, ", ").join(["a", "bc", "d"]), t(x, "-").join(empty), t(x, "").join(["x", "y"]), t(x, "z").join(["only"])])


def text_find(x: Tensor):
    s = t(x, "abcabcab")
    return torch.tensor([s.find("ab"), s.find("ab", 1), s.find("ab", 1, 4), s.find("zz"), s.rfind("ab"), s.rfind("ab", 0, 6),
                         s.rfind("q"), s.index("ca"), s.index("ca", 3), s.rindex("bc"), s.rindex("bc", 0, 4),
                         s.find(""), s.find("b", -3), s.find("b", 2, -2)])


def text_count(x: Tensor):
    s = t(x, "abaabaaba")
    return torch.tensor([s.count("a"), s.count("aba"), s.count("a", 2), s.count("a", 2, 5), s.count("z"), s.count("aa", -4)])


def text_starts(x: Tensor):
    s = t(x, "prefix.body.suffix")
    return flags([s.startswith("pre"), s.startswith("body"), s.startswith("body", 7), s.startswith("body", 7, 9),
                  s.endswith("fix"), s.endswith("body"), s.endswith("body", 0, 11), s.endswith("x", 3), s.startswith(""),
                  s.endswith("")])


def text_replace(x: Tensor):
    s = t(x, "one two one two one")
    return codes([s.replace("one", "1"), s.replace("one", "three", 2), s.replace("zz", "y"), s.replace("o", "")])


def text_pad(x: Tensor):
    s = t(x, "ab")
    return codes([s.center(7), s.center(6, "*"), s.center(5, "-"), s.ljust(5), s.ljust(4, "."), s.rjust(5), s.rjust(4, "."),
                  s.center(1), s.zfill(5), t(x, "-42").zfill(6), t(x, "+7").zfill(4), t(x, "").zfill(3), t(x, "-").zfill(3),
                  t(x, "abc").rjust(2)])


def text_partition(x: Tensor):
    a, b, c = t(x, "key=value=more").partition("=")
    d, e, f = t(x, "key=value=more").rpartition("=")
    g, h, i = t(x, "nothing").partition("=")
    j, k, m = t(x, "nothing").rpartition("=")
    return codes([a, b, c, d, e, f, g, h, i, j, k, m])


def text_expandtabs(x: Tensor):
    return codes([t(x, "a\tbc\td").expandtabs(), t(x, "a\tbc\td").expandtabs(4), t(x, "ab\n\tc").expandtabs(3), t(x,
                  "\t").expandtabs(0)])


def text_items(x: Tensor):
    s = t(x, "abcdef")
    return codes([s[0], s[-1], s[2], s[1:4], s[:-2], s[::2], s[3:], s[-3:-1], s[4:2], s[1:100], s[5:0:-2]])


def text_characters(x: Tensor):
    return codes([c + "." for c in "xyz"]) + len("four") + torch.tensor([ord(t(x, "a")), ord(t(x, "~"))]).sum()


def text_operators(x: Tensor):
    a = t(x, "ab")
    b = t(x, "abc")
    return flags([a == b, a != b, a < b, a <= b, a > b, a >= b, a + "c" == b, "b" in b, "z" in b, "" in b, not ("b" in a),
                  "b" not in b])


def text_times(x: Tensor):
    return codes(["ab" + "c" + "", chr(65) + chr(122)])


def text_bases(x: Tensor):
    out: List[str] = []
    for n in [0, 1, 10, 255, -1, -255, 4096, 9223372036854775807]:
        out += [hex(n), oct(n), bin(n)]
    return codes(out)


def text_of_numbers(x: Tensor):
    return codes([str(1), str(-7), str(1.5), str(True), str(0.1), str(1e20), str(1e-7), str(2.0), str(1.0 / 3.0),
                  str(float(t(x, "inf"))), str(-float(t(x, "inf"))), str(float(t(x, "nan"))), str(123456789.0), str(12345678.9)])


def text_of_containers(x: Tensor):
    nothing: Optional[int] = None
    return codes([str([1, 2, -3]), str((1, 2.5)), str({"a": 1}), str(nothing), str(["a", "b"]), str([True, False]), str("s"),
                  str([1.5, 0.25]), str({1: [2, 3]}), str([(1, "x")])])


def text_to_numbers(x: Tensor):
    return torch.tensor([int(t(x, "42")), int(t(x, "-7")), int(t(x, "0"))]) + int(float(t(x, "3.5")) * 2) + int(float(t(x,
    " 2.25")) * 4)


def text_format(x: Tensor):
    return codes([t(x, "{} and {}").format(1, "b"), t(x, "{}").format(2.5), t(x, "{}{}").format(True, None), t(x,
                  "plain").format(),
                  f"{1}-{'x'}", t(x, "{}").format([1, 2]), t(x, "{}, {}").format(-3, 1e-5)])


def text_percent(x: Tensor):
    return codes([t(x, "%d items") % 3, t(x, "%s=%s") % ("k", 7), t(x, "%f") % 2.5, t(x, "%d%%") % 50, t(x, "%s") % "x", t(x,
                  "%i") % -4, t(x, "%e") % 12345.678,
                  t(x, "%d") % 2.9, t(x, "%s %s") % (True, 1.5), t(x, "%c%c") % (72, "i"), t(x, "%E") % 0.5, t(x, "%F") % 3])


def text_hash(x: Tensor):
    return torch.tensor([hash(len(t(x, "abc"))), hash(-7), hash(True)])


def text_escapes(x: Tensor):
    return codes(["\\ \" ' \n\t\x01\x7f", 'it"s', "a'b\"c", "{}%", "#no comment", "tab\there"])


def text_keys(x: Tensor):
    table: Dict[str, int] = {"ab": 1, "cd": 2}
    total = 0
    for key in ["ab", "cd", "ef"]:
        if key in table:
            total += table[key] * 10
        else:
            total -= 1
    return x * total


def text_choice(x: Tensor):
    mode = "re" + "lu"
    if mode == "relu":
        y = torch.relu(x)
    elif mode.startswith("t"):
        y = torch.tanh(x)
    else:
        raise ValueError("unknown mode " + mode)
    return y


def text_sorted(x: Tensor):
    words = ["pear", "Apple", "fig", "apple", "_", "1"]
    out = sorted(words)
    words.sort(reverse=True)
    return codes(out + words)


def text_min_max(x: Tensor):
    words = ["b", "a", "c"]
    return torch.tensor([words.index("a"), words.count("b"), len(words), len("")])


def text_not_ascii(x: Tensor):
    s = t(x, "h\u00e9llo")
    return torch.tensor([len(s), len(s.upper())]) + int(s == "h\u00e9llo")


def first_and_rest(text: str) -> Tuple[str, str]:
    parts = text.split(" ", 1)
    return parts[0], parts[1]


def text_functions(x: Tensor):
    first, rest = first_and_rest("one two three")
    return codes([first, rest, rest.upper()])


def functions():
    return {name: f for name, f in globals().items() if name.startswith("text_")}
