# SPDX-License-Identifier: MIT
"""Modules of torchscript.py whose attributes a call changes: exported, and called several times with what the call before returned."""

import pathlib
import subprocess
from typing import List, Optional, Tuple  # noqa: UP006, UP035: torch.jit.script reads them

import torch
from torch import Tensor, nn


class Counter(nn.Module):
    """A number that every call changes, and a flag that the first one sets."""

    def __init__(self):
        super().__init__()
        self.calls = 3
        self.was_called = False
        self.on = False

    def forward(self, x):
        self.calls += 2
        self.was_called = True
        self.on = not self.on
        return (x if self.on else -x) * self.calls


class Lazy(nn.Module):
    """A tensor that is empty, and one that is None, before the first call, and a buffer."""

    last: Optional[Tensor]

    def __init__(self):
        super().__init__()
        self.total = torch.zeros(0)
        self.last = None
        self.rate = 0
        self.batch = 0
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        if self.batch != 0 and self.batch != x.size(0):
            self.total = torch.zeros(0)
        if self.total.numel() == 0:
            self.total = torch.zeros(x.size(0), 4)
        last = self.last
        if last is None:
            last = torch.zeros_like(x)
        self.total = self.total + x * (1 if self.rate == 16 else 1)
        self.rate = 16
        self.batch = x.size(0)
        self.last = x
        self.count = self.count + 1
        return self.total / self.count, x - last


class Groups(nn.Module):
    """A list and a tuple, whose saved values are not zeros."""

    states: List[Tensor]
    pair: Tuple[int, float]

    def __init__(self):
        super().__init__()
        self.states = [torch.full((1, 4), 2.0), torch.tensor([[-1.0, 5.0, 0.0, 3.0]])]
        self.pair = (1, 0.5)

    def forward(self, x):
        first, second = self.states[0], self.states[1]
        self.states = [first + x, second - x]
        n, factor = self.pair
        self.pair = (n + 1, factor * 2)
        return first * n + second * factor


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.total = 0.25

    def forward(self, x):
        self.total = self.total * 0.5 + float(x.sum())
        return x * self.total


class Nested(nn.Module):
    """The state of a submodule, which is called twice."""

    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        return self.inner(self.inner(x) + 1)


class InBranches(nn.Module):
    """Numbers, tensors, a list and buffers, which data decides to change, also in a submodule whose call depends on data."""

    h: Tensor
    states: List[Tensor]

    def __init__(self):
        super().__init__()
        self.calls = 3
        self.on = False
        self.inner = InnerBranches()
        self.h = torch.zeros(2, 4)
        self.states = [torch.zeros(2, 4), torch.ones(2, 4)]
        self.register_buffer("count", torch.zeros(()))
        self.register_buffer("seen", torch.zeros(4))

    def forward(self, x):
        if bool(x.sum() > 0):
            self.calls += 2
            self.on = not self.on
            self.h = self.h * 0.5 + x
            self.count += 1
        else:
            self.calls -= 1
            self.states = [self.states[1] - x, self.states[0]]
        if bool(x[0, 0] > 0):
            self.seen = self.seen + x[0]
        y = self.inner(x)
        y = self.inner(y) if bool(x[1, 1] > 0) else y
        return y * self.calls + self.h * float(self.on) + self.count, self.states[0] * 2 + self.seen


class InnerBranches(nn.Module):
    def __init__(self):
        super().__init__()
        self.total = 0.25
        self.n = 0

    def forward(self, x):
        if bool(x.max() > 0.5):
            if bool(x.min() < -0.5):
                self.total = self.total * 0.5 + float(x.sum())
            self.n += 1
        return x * self.total + self.n


class InLoops(nn.Module):
    """The bodies of loops change attributes, also by a method and in a branch of the body."""

    h: Tensor

    def __init__(self):
        super().__init__()
        self.steps = 0
        self.h = torch.zeros(2, 4)
        self.register_buffer("count", torch.zeros(()))

    def step(self, x: Tensor):
        self.h = self.h * 0.5 + x
        self.steps += 1
        if bool(self.h.sum() > 0):
            self.count += 1

    def forward(self, x):
        y = x
        i = 0
        while bool(y.abs().sum() > 1) and i < 7:
            y = y * 0.5
            self.step(y)
            i += 1
        for k in range(int(x.abs().sum()) % 3):
            self.steps += k
        return self.h + self.steps + self.count


class NegativeZeros(nn.Module):
    h: Optional[Tensor]

    def __init__(self):
        super().__init__()
        self.h = None

    def forward(self, x):
        h = self.h
        signs = -torch.zeros_like(x) if h is None else h
        self.h = torch.zeros_like(x)  # negative zeros
        return torch.copysign(x, signs)


class TextInBranch(nn.Module):
    def __init__(self):
        super().__init__()
        self.mode = "a"

    def forward(self, x):
        if bool(x.sum() > 0):  # text in branch
            self.mode = "b"
        return x


class NoneInBranch(nn.Module):
    h: Optional[Tensor]

    def __init__(self):
        super().__init__()
        self.h = None

    def forward(self, x):
        if bool(x.sum() > 0):
            self.h = x + 1  # none in branch
        return x


class GrowsInLoop(nn.Module):
    def __init__(self):
        super().__init__()
        self.h = torch.zeros(2, 4)

    def forward(self, x):
        while bool(self.h.sum() < x.sum()):
            self.h = torch.cat([self.h, x])  # grows in loop
        return self.h.sum(0)


class DiffersAtFirst(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        y = x * 5 if self.calls == 0 else x
        self.calls = 1  # differs at first
        return y


class NotZeros(nn.Module):
    h: Optional[Tensor]

    def __init__(self):
        super().__init__()
        self.h = None

    def forward(self, x):
        h = self.h
        h = torch.ones_like(x) if h is None else h * 0.5
        self.h = h + x  # not zeros
        return h + x


class Grows(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = torch.zeros(0, 4)

    def forward(self, x):
        self.cache = torch.cat([self.cache, x])  # grows
        return self.cache.sum(0)


class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.mode = "a"

    def forward(self, x):
        self.mode = self.mode + "b"  # named
        return x


KEPT = {"counter": (Counter, "2,4", {"calls": 3, "on": False}), "lazy": (Lazy, "batch,4", {}),
        "groups": (Groups, "1,4", {"states_0": [[2.0] * 4], "states_1": [[-1.0, 5.0, 0.0, 3.0]], "pair_0": 1, "pair_1": 0.5}),
        "nested": (Nested, "2,4", {"inner_total": 0.25}),
        "in_branches": (InBranches, "2,4", {"calls": 3, "inner_total": 0.25, "states_1": [[1.0] * 4] * 2}),
        "in_loops": (InLoops, "2,4", {})}
REFUSED = {"differs_at_first": (DiffersAtFirst, "the first call computes something else", "self.calls = 1  # differs at first"),
           "not_zeros": (NotZeros, "the first call computes something else", "self.h = h + x  # not zeros"),
           "grows": (Grows, "another type or size after every call", "self.cache = torch.cat([self.cache, x])  # grows"),
           "negative_zeros": (NegativeZeros, "the first call computes something else", "self.h = torch.zeros_like(x)  # negative zeros"),
           "text_in_branch": (TextInBranch, "'mode' is changed in a branch that depends on data", "if bool(x.sum() > 0):  # text in branch"),
           "none_in_branch": (NoneInBranch, "data decides to be None or not to the attribute 'h'", "self.h = x + 1  # none in branch"),
           "grows_in_loop": (GrowsInLoop, "a tensor whose sizes the model computes to the attribute 'h'", "self.h = torch.cat([self.h, x])  # grows in loop"),
           "named": (Named, "another type or size after every call", 'self.mode = self.mode + "b"  # named')}


def call_in_turn(archive, model, chunks, start, *more):
    """The largest difference between torch and ONNX Runtime over calls that keep their state; torch gets `more` arguments."""
    import numpy as np
    import onnxruntime
    module = torch.jit.load(str(archive))
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_outputs()]
    state = {}
    for each in session.get_inputs():
        if each.name == "x":
            continue
        sizes = [size if isinstance(size, int) else chunks[0].size(0) for size in each.shape]
        dtype = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(int64)": np.int64, "tensor(bool)": np.bool_}[each.type]
        state[each.name] = np.asarray(start.get(each.name, np.zeros(sizes)), dtype)
    worst = 0.0
    for chunk in chunks:
        wanted = module(chunk, *more)
        found = dict(zip(names, session.run(None, {"x": chunk.numpy(), **state})))
        for want, got in zip(wanted if isinstance(wanted, tuple) else (wanted,), found.values()):
            want = want.detach().numpy()
            assert want.shape == got.shape, f"shape {got.shape}, torch has {want.shape}"
            worst = max(worst, float(np.abs(want - got).max() / max(1e-6, np.abs(want).max())))
        state = {name: found[name + ".out"] for name in state}
    return worst


def check_all(aton, folder, line_of):
    """What is wrong: lines."""
    problems = []
    for name, (build, sizes, start) in KEPT.items():
        archive, model = pathlib.Path(folder) / f"state_{name}.pt", pathlib.Path(folder) / f"state_{name}.onnx"
        torch.jit.script(build()).save(str(archive))
        done = subprocess.run([aton, "export", str(archive), "-o", str(model), "-q", "--state", "inputs", "--input", f"x:float32[{sizes}]"],
                              capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            problems.append(f"state_{name}: {done.stderr.strip()}")
            continue
        for seed, batch in ((1, 2), (2, 5)):
            torch.manual_seed(seed)
            one = sizes.replace("batch", str(batch)).split(",")
            chunks = [torch.randn([int(size) for size in one]) for _ in range(5)]
            worst = call_in_turn(archive, model, chunks, start)
            if worst > 1e-5:
                problems.append(f"state_{name}: error {worst:.1e}")
    for name, (build, why, line) in REFUSED.items():
        archive = pathlib.Path(folder) / f"state_{name}.pt"
        torch.jit.script(build()).save(str(archive))
        done = subprocess.run([aton, "export", str(archive), "-o", str(archive.with_suffix(".onnx")), "--input", "x:float32[2,4]"],
                              capture_output=True, text=True, timeout=60)
        if done.returncode != 1 or why not in done.stderr or line_of(line) not in done.stderr:
            problems.append(f"state_{name}: {done.returncode} {done.stderr.strip()}")
    return problems
