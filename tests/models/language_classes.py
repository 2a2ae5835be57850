# SPDX-License-Identifier: MIT
"""Functions on tuples, optional values, unions, enumerations and classes that torch.jit.script compiles."""

from enum import Enum
from typing import Any, List, NamedTuple, Optional, Tuple, Union  # noqa: UP035: torch.jit.script reads them

import torch
from torch import Tensor


def flags(all: List[bool]) -> Tensor:
    out = [7]
    for each in all:
        out.append(int(each))
    return torch.tensor(out)


def tuple_basics(x: Tensor):
    t = (1, x, "s", 2.5)
    a, b, c, d = t
    u = t[1:3]
    (e, f), g = ((1, 2), 3)
    return b * d, u[0] + a, torch.tensor([e, f, g, len(c), len(t), t[-4]])


def tuple_compare(x: Tensor):
    return flags([(1, 2) == (1, 2), (1, 2) == (1, 3), x.shape == torch.Size([3, 4])])


def tuple_add(x: Tensor):
    a = (1, 2)
    b = a + (3,)
    p, q = b[0], b[2]
    q, p = p, q
    return torch.tensor([p, q, len(b)])


def optional_or(a: Optional[int], b: Optional[Tensor] = None) -> int:
    if a is None:
        a = 7
    if b is not None:
        return a + b.size(0)
    return a


def optional_values(x: Tensor):
    y: Optional[Tensor] = None
    if x.dim() == 2:
        y = x + 1
    assert y is not None
    z = torch.jit._unwrap_optional(y)
    return y, z * optional_or(None), z + optional_or(3, x), optional_or(None, None)


def optional_of_data(x: Tensor):
    y: Optional[Tensor] = None
    n: Optional[int] = None
    pair: Optional[Tuple[int, Tensor]] = None
    if bool(x[0].sum() > 0):
        y = x * 3
        n = 5
    if bool(x.sum() > 0):
        pair = (int(x.sum()), x + 1)
    elif bool(x.sum() < -8):
        pair = (2, x)
    z = x - 1 if y is None else y + 1
    m = 7 if n is None else n
    if pair is not None:
        z = z * pair[0] + pair[1]
    last: Optional[Tensor] = None
    for i in range(3):
        if bool(x[i].sum() > 0):
            last = x[i]
    return z, x * m, x[0] if last is None else last * 2


def optional_unwrapped(x: Tensor):
    y: Optional[Tensor] = None
    if bool(x.abs().sum() > 0):
        y = x * 3
    assert y is not None
    return y + 1


def union_values(x: Tensor):
    u: Union[int, str, List[int]] = 5
    out = 0
    if isinstance(u, int):
        out += u
    u = "abc"
    if isinstance(u, str):
        out += len(u)
    u = [1, 2]
    if isinstance(u, list):
        out += len(u)
    return torch.tensor([out])


def any_values(x: Tensor):
    a: Any = 3
    b: Any = x
    n = 0
    if isinstance(a, int):
        n += a
    if isinstance(b, Tensor):
        x = b * 2
    if isinstance(a, (float, str)):
        n += 100
    return x + n


class Color(Enum):
    RED = 1
    GREEN = 5


class Mode(Enum):
    SUM = "sum"
    MEAN = "mean"


def of_color(c: Color) -> int:
    return c.value + (10 if c == Color.GREEN else 0)


def enum_values(x: Tensor):
    c = Color.RED
    m = Mode.MEAN
    out = [of_color(c), of_color(Color.GREEN), len(m.value), len(m.name), int(c is Color.RED), int(c != Color.GREEN)]
    for each in [Color.GREEN, Color.RED]:
        out.append(each.value)
    d = Color.GREEN if x.dim() == 2 else Color.RED
    out.append(len(d.name))
    return torch.tensor(out), x.sum() if m == Mode.SUM else x.mean()


class Point(NamedTuple):
    x: Tensor
    n: int = 3
    name: str = "p"


def shift(p: Point, by: float) -> Point:
    return Point(p.x + by, p.n + 1, name=p.name + "q")


def named_tuple(x: Tensor):
    p = Point(x)
    q = shift(shift(p, 0.5), 0.25)
    a, n, name = q
    return q.x, a * q.n, torch.tensor([p.n, n, len(name), len(q.name), len(q)]), q[0] - p[0]


@torch.jit.script
class Counter:
    def __init__(self, start: int, step: int = 2):
        self.n = start
        self.step = step
        self.seen: List[int] = []

    def count(self, times: int = 1) -> int:
        for _ in range(times):
            self.n += self.step
            self.seen.append(self.n)
        return self.n

    def __len__(self) -> int:
        return len(self.seen)

    def __getitem__(self, i: int) -> int:
        return self.seen[i]

    def __contains__(self, n: int) -> bool:
        return n in self.seen

    def __add__(self, other: int) -> int:
        return self.n + other

    def __lt__(self, other: "Counter") -> bool:
        return self.n < other.n

    def __eq__(self, other: "Counter") -> bool:
        return self.n == other.n

    def __bool__(self) -> bool:
        return self.n > 0

    @staticmethod
    def zero() -> int:
        return 41

    @property
    def twice(self) -> int:
        return self.n * 2


def class_methods(x: Tensor):
    c = Counter(5)
    a = c.count()
    b = c.count(times=3)
    d = Counter(1, step=7)
    d.n = 100
    d.n += 1
    e = c
    e.count()
    return torch.tensor([a, b, c.n, d.n, d.step, Counter.zero(), c.twice]), x * c.n


def class_magic(x: Tensor):
    c = Counter(1)
    c.count(3)
    d = Counter(9)
    return torch.tensor([len(c), c[1], c[-1], c + 5]), flags([3 in c, 4 in c, c < d, d < c, c == d, bool(c)])


@torch.jit.script
class Scale:
    def __init__(self, by: Tensor):
        self.by = by

    def __call__(self, x: Tensor) -> Tensor:
        return x * self.by

    def __mul__(self, other: Tensor) -> Tensor:
        return self.by * other + 1


def class_of_tensors(x: Tensor):
    s = Scale(x.sum(0))
    parts = [Scale(x[0]), s]
    s.by = s.by + 1
    return s(x), s * x, parts[1].by - parts[0].by


def class_sorted(x: Tensor):
    all = [Counter(5), Counter(2), Counter(9)]
    all.sort()
    return torch.tensor([c.n for c in all])


def functions():
    starts = ("tuple_", "optional_v", "optional_of_", "optional_unwrapped", "union_", "any_", "enum_", "named_", "class_")
    return {name: f for name, f in globals().items() if name.startswith(starts)}
