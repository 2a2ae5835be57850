# SPDX-License-Identifier: MIT
"""Functions that ask for properties of tensors, devices and dtypes, with blocks, exceptions and control flow, which torch.jit.script
compiles."""

import math
import warnings
from typing import Any, List, Tuple  # noqa: UP035: torch.jit.script reads them

import torch
from torch import Tensor


def flags(all: List[bool]) -> Tensor:
    out = [7]
    for each in all:
        out.append(int(each))
    return torch.tensor(out)


def property_flags(x: Tensor):
    return flags([x.is_cuda, x.is_cpu, x.is_sparse, x.is_quantized, x.is_mkldnn, x.is_meta, x.is_nested, x.requires_grad,
                  x.is_leaf, x.is_xla, x.is_mps, x.is_vulkan, x.is_xpu, x.is_ipu, x.is_sparse_csr, x.is_complex(),
                  x.is_floating_point(), x.is_signed(), x.is_inference(), x.is_conj(), x.is_neg()])


def property_numbers(x: Tensor):
    h = x.half()
    return torch.tensor([x.ndim, x.dim(), x.numel(), x.size(0), x.size(-1), x.shape[1], len(x.shape), x.nbytes,
                         x.itemsize, x.element_size(), h.itemsize, h.nbytes, len(x), x.get_device(),
                         h.element_size(), x.double().itemsize])


def property_views(x: Tensor):
    y = x.reshape(3, 2, 2)
    return x.T, y.mT, x.H, y.mH, x.data + 1, x.real * 2, y.transpose(0, 1).mT


def property_dtype(x: Tensor):
    y = x.to(torch.int64)
    d = x.dtype
    return flags([x.dtype == torch.float32, y.dtype == torch.float32, d == y.dtype, x.dtype != y.dtype, x.dtype == 6,
                  x.dtype in [torch.float32, torch.half]])


def property_device(x: Tensor):
    d = x.device
    cpu = torch.device("cpu")
    cuda = torch.device("cuda", 1)
    other = torch.device("cuda:0")
    out = flags([d == cpu, d != cpu, d == cuda, cuda == other, d.type == "cpu", cuda.type == "cuda", d.index is None])
    index = cuda.index
    if index is not None:
        out = out + index
    return out, x.to(d) + 1, torch.zeros(2, device=x.device), x.to("cpu") * 2


def property_layout(x: Tensor):
    return flags([x.layout == torch.strided, x.layout != torch.sparse_coo]), torch.empty_like(x, layout=torch.strided).zero_()


def property_grad(x: Tensor):
    g = x.grad
    if g is None:
        return x + 1
    return x - 1


def property_contiguous(x: Tensor):
    y = x * 2
    return flags([x.is_contiguous(), y.is_contiguous()]), torch.tensor([x.stride(0), x.stride(-1), x.storage_offset()]), \
        torch.tensor(y.reshape(2, 3, 2).stride())


def question_equal(x: Tensor):
    y = x + 0
    if torch.equal(x, y):
        x = x + 1
    if torch.allclose(x, y):
        x = x * 100
    if torch.equal(x, y[0]):
        x = x - 5
    return x


def question_grad(x: Tensor):
    return flags([torch.is_grad_enabled()]) * 0, x.detach().requires_grad_(False), x + 1


def question_types(x: Tensor):
    a = torch.result_type(x, 3)
    b = torch.promote_types(torch.int32, torch.float16)
    c = torch.can_cast(torch.float32, torch.int64)
    return x.to(a), x.to(b), flags([c, torch.can_cast(torch.int8, torch.float32)]), \
        torch.finfo(torch.float32).eps if False else 0.0


def question_jit(x: Tensor):
    if torch.jit.is_scripting():
        x = x + 1
    if torch.jit.is_tracing():
        x = x * 7
    return x


def tensor_abs(x: Tensor):
    return abs(x), -x, x // 2, x % 2, 2 ** x, x ** 2, 3 - x, 1 / (x + 10), x @ x.T, (x > 0) & (x < 2), (x > 0) | (x < -1), \
        (x > 0) ^ (x < 1), ~(x > 0), x.int() << 1, x.int() >> 1, 5 % (x.abs() + 1)


def tensor_min_max(x: Tensor):
    return torch.min(x, 0)[0], max(float(x.max()), 1.0), x.sum().item() + 1.0, min(int(x.sum()), 5)


def tensor_conversions(x: Tensor):
    n = int(x.max())
    y = float(x.min())
    b = bool(x.sum() > 0)
    return x + n, x + y, x.float(), x.double(), x.int(), x.long(), x.to(torch.uint8), torch.tensor([b]), x.type_as(x.int())


def tensor_create(x: Tensor):
    return torch.tensor(3), torch.tensor(2.5), torch.tensor([True, False]), torch.tensor([[1, 2], [3, 4]], dtype=torch.int32), \
        torch.as_tensor([1.5, 2.5]), torch.zeros([2, 3]), torch.ones(2, 2), torch.full((2,), 7), torch.arange(1, 7, 2), \
        x.new_zeros(2), \
        x.new_full([2], 3.0), x.new_tensor([1.0]) if False else x.new_ones([1])


def tensor_indexing(x: Tensor):
    y = x.clone()
    y[0] = 5.0
    y[:, 1] += 2
    y[1:, ::2] = x[1:, ::2] * 3
    y[x > 1] = -1.0
    return y, x[..., None], x[-1], x[:, [0, 2]], x[torch.tensor([2, 0])], x[1, 2], x[None, 1]


def tensor_unpack(x: Tensor):
    a, b = x.chunk(2, 1)
    c, d, e = x.unbind(0)
    f, g = torch.split(x, [1, 3], 1)
    h = x.split(3, 1)[0]
    values, indices = x.max(1)
    return a, b, c + d - e, f, g, h, values, indices


def tensor_iterate(x: Tensor):
    total = torch.zeros(4)
    for row in x:
        total = total * 2 + row
    for i, row in enumerate(x):
        total = total + row * i
    return total


def with_no_grad(x: Tensor):
    with torch.no_grad():
        y = x * 2
    with torch.no_grad():
        if x.size(0) == 3:
            return y + 1
    return y


@torch.jit.script
class Region:
    def __init__(self, n: int):
        self.n = n
        self.log: List[int] = []

    def __enter__(self) -> int:
        self.n += 1
        self.log.append(self.n)
        return self.n

    def __exit__(self, type: Any, value: Any, trace: Any):
        self.log.append(-self.n)


def with_class(x: Tensor):
    r = Region(5)
    with r as n:
        x = x + n
        with Region(1) as m:
            x = x * m
    with r:
        x = x - 1
    return x, torch.tensor(r.log)


def with_profile(x: Tensor):
    with torch.autograd.profiler.record_function("name"):
        y = x + 3
    return y


def with_autocast_off(x: Tensor):
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=False):
        y = x @ x.T
    with torch.autocast("cuda", dtype=torch.float16):
        z = x @ x.T
    return y, z


def with_autocast(x: Tensor):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        a = x @ x.T
        b = torch.softmax(x, 1) + 1
        c = torch.exp(a) + a
        with torch.autocast("cpu", enabled=False):
            d = x @ x.T
    return a.float(), b, c, d, (x @ x.T) * 3


def doubled(x: Tensor, by: int) -> Tensor:
    y = x * by
    return y + 1


def fork_and_wait(x: Tensor):
    a = torch.jit.fork(doubled, x, by=3)
    b = torch.jit.fork(doubled, x + 1, 2)
    y = x - 1
    return torch.jit.wait(a) * y, torch.jit.wait(b) - torch.jit.wait(a)


def raise_never(x: Tensor):
    if x.dim() != 2:
        raise ValueError(f"expected 2 dimensions, got {x.dim()}")
    assert x.size(1) == 4, "four columns"
    assert len(x.shape) > 1
    return x * 2


def raise_on_one_side(x: Tensor):
    if bool(x.sum() > 1e9):
        y = raise_for_matrices(x)
    else:
        y = x + 1
    return y


def raise_for_matrices(x: Tensor):
    y = x * 2
    if x.dim() == 2:
        raise ValueError("a matrix")
    return y


def return_in_loop(x: Tensor):
    for i in range(3):
        if bool(x[i, 0] > 0):
            return x[i] * i, i
    return -x[0], 7


def branch_on_data(x: Tensor):
    n = 3
    if bool(x.sum() > 0):
        y = x + 1
        n = 4
    else:
        y = x - 1
    return y * n


def branch_returns(x: Tensor):
    for i in range(5):
        if i * i > x.size(0):
            return x * i
    return x


def ternary(x: Tensor):
    a = 1 if x.size(0) > 2 else 2
    b = x if a == 1 else x + 1
    return b * a


def recursive_pair(n: int) -> Tuple[int, int]:
    a = 0
    b = 1
    for _ in range(n):
        a, b = b, a + b
    return a, b


def loop_of_data(x: Tensor):
    i = 0
    while bool(x.abs().max() > 0.5):
        x = x * 0.5
        i += 1
    return x, i, recursive_pair(10)[0]


def print_and_warn(x: Tensor):
    print("shape", x.shape)
    return x + 1


def early_in_loop(x: Tensor):
    total = x.sum()
    for i in range(4):
        if i == 2:
            break
        total = total + i
    return total


def size_and(x: Tensor):
    n = x.size(0)
    if n & 1 == 1:
        x = x + 1
    return x * (n & 6) + (n | 4) + (n ^ 1)


def in_place_forms(x: Tensor):
    y = x.clone()
    y += 1
    y *= 2
    y -= x
    y /= 3
    y.clamp_(min=-1).add_(0.5)
    return y


def strided_views(x: Tensor):
    y = x * 2
    cube = torch.zeros(3, 3, 3)
    cube.fill_diagonal_(2.0)
    return torch.as_strided(y + 1, [2, 3], [4, 1], 1), y.fill_diagonal_(5.0), x.as_strided([3, 2], [1, 5]), cube, \
        torch.zeros(5, 3).fill_diagonal_(1.0)


def shapes(x: Tensor):
    return torch.tensor(torch.broadcast_shapes([3, 1], [1, 4]) if False else [1]), x.expand(2, 3, 4), x.view([4, 3]), \
        x.reshape(-1), x.flatten(), x.permute([1, 0])


def types_of_results(x: Tensor):
    a = torch.tensor([torch.can_cast(torch.int32, x.dtype), torch.can_cast(x.dtype, torch.int32)])
    return a, x.to(torch.promote_types(x.dtype, torch.float64)), torch.zeros(torch.broadcast_shapes(x.shape, [1, 4]))


def state_of_torch(x: Tensor):
    torch.manual_seed(3)
    torch.set_grad_enabled(False)
    y = x * 2 if torch.jit.is_scripting() else x
    torch.set_grad_enabled(True)
    if torch.is_autocast_enabled() or torch.is_vulkan_available() or torch.jit.is_tracing():
        y = y + 1
    if y.grad is None:
        y = y - 1
    return y


def fills_without_gradient(x: Tensor):
    y = x.clone()
    torch.nn.init.constant_(y, 2.5)
    z = x.cpu().clone()
    torch.nn.init.zeros_(z)
    return y, z


def polar_and_complex(x: Tensor):
    z = torch.complex(x, x) * complex(x.dim(), 2)
    return torch.view_as_real(torch.polar(x.abs(), x)), torch.view_as_real(z)


def tensors_as_arguments(x: Tensor):
    i = x.abs().sum().long() % 3
    warnings.warn("careful")
    return torch.full([2], x[0, 0]), torch.add(x, x, alpha=x[0, 1]), x.narrow(0, int(i), 1), torch.ops.aten.select(x, 0, i), \
        torch.nn.functional.elu(x, x[1, 1].abs())


def tensors_as_numbers(x: Tensor):
    i = x.abs().sum().long() % 2
    y = torch.zeros(4, 5)
    y[i:i + 2, max(i, 1):min(i + 9, y.size(1))] = x[0, 0]
    return y, x[max(i, 0):], math.sin(x[0, 1]), y[:, int(i):].sum() + pow(x[1, 2], 2)


def einsum_of_operands(x: Tensor):
    return torch.einsum("ij,kj->ik", x, x), torch.einsum("ij,j->i", [x, x[0]])


def functions():
    helpers = ("flags", "doubled", "recursive_pair", "raise_for_matrices", "functions")
    return {name: f for name, f in globals().items() if callable(f) and getattr(f, "__module__", "") == __name__ and
            not isinstance(f, type) and name not in helpers}
