# SPDX-License-Identifier: MIT
"""Functions on lists and dicts that torch.jit.script compiles."""

from collections import OrderedDict
from typing import Dict, List  # noqa: UP035: torch.jit.script reads them

import torch
from torch import Tensor


def flags(all: List[bool]) -> Tensor:
    out = [7]
    for each in all:
        out.append(int(each))
    return torch.tensor(out)


def list_changes(x: Tensor):
    a = [5, 3, 8, 3]
    a.append(1)
    a.insert(1, 9)
    a.insert(-1, 7)
    a.insert(100, 4)
    a.remove(3)
    a.extend([2, 6])
    b = a.copy()
    a.reverse()
    c = a.pop()
    d = a.pop(1)
    e = a.pop(-2)
    b.clear()
    a[0] = 11
    a[-1] = 12
    del a[2]
    return torch.tensor(a + [c, d, e, len(b)])


def list_sort(x: Tensor):
    a = [5, -3, 8, 3]
    a.sort()
    b = [0.5, -1.5, 2.0]
    b.sort(reverse=True)
    c = [True, False, True]
    c.sort()
    d = sorted([3, 1, 2])
    e = sorted([2.5, -0.5])
    return torch.tensor(a), torch.tensor(b), flags(c), torch.tensor(d), torch.tensor(e)


def list_questions(x: Tensor):
    a = [4, 2, 4, 6]
    b = [0.5, 1.5]
    c = [True, False]
    return torch.tensor([a.index(4), a.index(6), a.count(4), a.count(9), b.index(1.5), b.count(0.5), c.index(False),
                         c.count(True),
                         len(a)]), flags([2 in a, 3 in a, 0.5 in b, 7 not in a, a == [4, 2, 4, 6], a != [4], a == [4, 2],
                                          b == [0.5, 1.5]])


def list_operators(x: Tensor):
    a = [1, 2]
    a += [3]
    b = a + [4]
    c = [0] * 3
    d = b * 2
    a *= 2
    return torch.tensor(a + b + c + d)


def list_slices(x: Tensor):
    a = [0, 1, 2, 3, 4, 5, 6]
    b = a[1:3] + a[-2:] + a[::-1] + a[5:1:-2] + a[:100] + a[3:1] + a[-100:2] + a[:]
    a[1] = 50
    return torch.tensor(b + a)


def list_nested(x: Tensor):
    a = [[1, 2], [3], [4, 5, 6]]
    a[1].append(7)
    b = a[0]
    b[0] = 9
    flat: List[int] = []
    for row in a:
        for n in row:
            flat.append(n)
    return torch.tensor(flat), torch.tensor([[1, 2], [3, 4]]), torch.tensor([[0.5, 1.0], [2.0, 4.0]]) + len(a)


def list_comprehension(x: Tensor):
    a = [i * i for i in range(4)]
    b = [x[i] * i for i in range(3)]
    c = [float(n) / 2 for n in a]
    return torch.tensor(a), torch.stack(b), torch.tensor(c)


def list_of_tensors(x: Tensor):
    a = [x, x + 1, x * 2]
    a.reverse()
    a.append(a[0] - 1)
    a.insert(1, -x)
    last = a.pop()
    b = a[1:3]
    return torch.stack(a), last, torch.cat(b, 1), len(a)


def list_unpack(x: Tensor):
    a, b, c = [1, 2, 3]
    d, e = x.size()
    f, g = [x, x + 1]
    return torch.tensor([a, b, c, d, e]), f * g


def list_zip(x: Tensor):
    total = 0
    for i, (a, b) in enumerate(zip([1, 2, 3], [4, 5, 6])):
        total = total * 3 + i * a - b
    for i, a in enumerate([7, 8], 5):
        total += i * a
    for a, b, c in zip([1, 2], [3, 4], [5, 6]):
        total += a * b * c
    return torch.tensor([total])


def list_aliases(x: Tensor):
    a = [1]
    b = a
    b.append(2)
    c = list(a)
    c.append(3)
    d = (a, 5)
    d[0].append(4)
    return torch.tensor(a + b + c), flags([a is b, a is not c])


def append_to(a: List[int], n: int):
    a.append(n)


def list_arguments(x: Tensor):
    a = [1]
    append_to(a, 5)
    append_to(a, 6)
    return torch.tensor(a)


def list_of_pairs(x: Tensor):
    a = [(1, 2.5), (3, 0.5)]
    total = 0.0
    for n, y in a:
        total += n * y
    b = [(3, "b"), (1, "c"), (2, "a")]
    return torch.tensor([total]), torch.tensor([n for n, s in b])


def list_of_sizes(x: Tensor):
    a = list(x.shape)
    a.append(x.numel())
    b = [n + 1 for n in a]
    return torch.tensor(a + b + [sum(a), max(a), min(a)]), x.reshape([x.size(0) * 2, -1])


def list_of_texts(x: Tensor):
    a = ["relu", "tanh"]
    for name in a:
        if name == "relu":
            x = torch.relu(x)
        elif name in ["tanh", "sinh"]:
            x = torch.tanh(x)
    return x


def list_tolist(x: Tensor):
    a: List[int] = torch.tensor([4, 2]).tolist()
    b: List[List[float]] = torch.tensor([[0.5, 1.5]]).tolist()
    c: int = torch.tensor(7).tolist()
    return torch.tensor(a), torch.tensor(b), torch.tensor([c, len(a)])


def list_empty(x: Tensor):
    a: List[Tensor] = []
    b: List[int] = []
    if len(a) == 0 and not len(b):
        x = x + 1
    return x, torch.tensor(b), len(b)


def list_is_truth(x: Tensor):
    a = [1, 2]
    return x * len(a) if len(a) > 0 else x


def dict_basics(x: Tensor):
    d: Dict[str, int] = {"a": 1, "b": 2}
    d["c"] = 3
    d["a"] = 10
    e = d.copy()
    del d["b"]
    out = [len(d), len(e), d["a"], d.get("zz", -1), d.pop("c"), d.pop("q", -5), d.setdefault("n", 8), d.setdefault("a", 0)]
    out += [int("a" in d), int("b" in d), int("b" not in d)]
    f = d.get("n")
    g = d.get("nothing")
    if f is not None:
        out.append(f)
    if g is None:
        out.append(-9)
    e.clear()
    out.append(len(e))
    return torch.tensor(out)


def dict_order(x: Tensor):
    d = {3: 1.5, 1: 2.5, 2: 0.5}
    keys: List[int] = []
    for k in d:
        keys.append(k)
    for k in d.keys():
        keys.append(k * 10)
    values: List[float] = []
    for v in d.values():
        values.append(v)
    for k, v in d.items():
        values.append(k * v)
    return torch.tensor(keys), torch.tensor(values), torch.tensor(list(d.keys()) + [len(list(d.values()))])


def dict_update(x: Tensor):
    d = {"a": 1, "b": 2}
    d.update({"b": 5, "c": 6})
    k, v = d.popitem()
    e = dict([("x", 1), ("y", 2)])
    f = dict(d)
    f["a"] = 100
    g = {k: v + 1 for k, v in d.items()}
    return torch.tensor([len(d), v, len(k), e["y"], d["b"], f["a"], g["b"]])


def dict_of_tensors(x: Tensor):
    d = {"x": x, "y": x * 2}
    d["z"] = d["x"] + d["y"]
    total = torch.zeros_like(x)
    for key, value in d.items():
        total = total + value * len(key)
    return total, d["z"], torch.stack(list(d.values()))


def dict_of_lists(x: Tensor):
    empty: List[int] = []
    d: Dict[int, List[int]] = {0: empty}
    for i in range(5):
        if i % 2 not in d:
            more: List[int] = []
            d[i % 2] = more
        d[i % 2].append(i)
    return torch.tensor(d[0] + d[1])


def dict_keys(x: Tensor):
    a = {1.5: 1, 2.5: 2}
    b = {True: 1, False: 0}
    c = {2: "two", 4: "four"}
    return torch.tensor([a[2.5], b[True], len(c[4]), len(c.get(9, "nothing"))])


def dict_ordered(x: Tensor):
    d: Dict[str, Tensor] = OrderedDict()
    d["out"] = x + 1
    d["aux"] = x * 3
    return d["aux"] - d["out"]


def functions():
    return {name: f for name, f in globals().items() if name.startswith(("list_", "dict_"))}
