# SPDX-License-Identifier: MIT
"""Functions on numbers that torch.jit.script compiles: Python's operators, its built-in functions and those of `math`."""

import cmath
import math
from typing import List, Tuple  # noqa: UP035: torch.jit.script reads them

import torch
from torch import Tensor


def reals(numbers: List[float]) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64)


def flags(all: List[bool]) -> Tensor:
    out = [7]
    for each in all:
        out.append(int(each))
    return torch.tensor(out)


def n(x: Tensor, number: int) -> int:
    """The number, which torch.jit.script does not know before it runs: it computes functions of constants itself."""
    return number + x.dim() - 2


def r(x: Tensor, number: float) -> float:
    return [number][x.dim() - 2]


def c(x: Tensor, number: complex) -> complex:
    return [number][x.dim() - 2]


def number_integers(x: Tensor):
    a = n(x, -7)
    b = n(x, 3)
    return torch.tensor([a + b, a - b, a * b, a // b, a % b, n(x, 7) // -3, n(x, 7) % -3, a & b, a | b, a ^ b, a << 2, a >> 1, -a,
                         abs(a), int(2 ** 10), int(pow(3, 4)), min(a, b), max(a, b), n(x, 1) << 40, n(x, -1) >> 5])


def number_reals(x: Tensor):
    a = r(x, -7.5)
    b = r(x, 2.0)
    return reals([a + b, a - b, a * b, a / b, a // b, a % b, r(x, 7.5) // -2.0, r(x, 7.5) % -2.0, a ** 2.0, r(x, 2.0) ** -1.0,
                  -a, abs(a),
                  min(a, b), max(a, b), n(x, 1) / 3, n(x, 7) / 2, n(x, 2) ** -2.0, 1e300 * 10.0])


def number_mixed(x: Tensor):
    return reals([n(x, 1) + 2.5, r(x, 2.5) - 1, n(x, 3) * 0.5, n(x, 7) // 2.0, r(x, 7.5) // 2, n(x, 7) % 2.5, r(x, 7.5) % 2,
                  n(x, 2) ** 0.5, r(x, 2.5) ** 2, float(min(1, 2.5)),
                  max(3, 2.5), float(True) + 1.5])


def number_divmod(x: Tensor):
    a, b = divmod(n(x, -7), 3)
    c, d = divmod(n(x, 7), -3)
    e, f = divmod(r(x, -7.5), 2.0)
    g, h = divmod(n(x, 7), 2.5)
    i, j = divmod(r(x, 7.5), -2)
    return torch.tensor([a, b, c, d]), reals([e, f, g, h, i, j])


def number_convert(x: Tensor):
    return torch.tensor([int(r(x, 2.9)), int(r(x, -2.9)), int(True)]), flags([bool(n(x, 0)), bool(n(x, -3)), bool(r(x, 0.0)),
    bool(r(x, 0.1)), round(r(x, 2.5)) > 2]), \
        reals([float(n(x, 3)), float(True), float("1e3"), float("-inf"), float("nan")])


def number_round(x: Tensor):
    return reals([round(r(x, 2.5)), round(r(x, 3.5)), round(r(x, -0.5)), round(r(x, -2.5)), round(r(x, 2.4)), float(round(n(x,
                  7)))]), \
        torch.tensor([math.floor(r(x, -2.5)), math.ceil(r(x, -2.5)), math.floor(r(x, 2.9)), math.ceil(r(x, 2.1)),
                      math.floor(n(x, 3))])


def number_comparisons(x: Tensor):
    a = n(x, 3)
    b = r(x, 2.5)
    return flags([a < b, a <= b, a > b, a >= b, a == b, a != b, a == 3.0, 1 < 2 < 3, 1 < 2 > 5, True == False, a is not None,
                  not a > b, a > 2 and b > 2, a > 5 or b > 2, float("nan") == float("nan"), 1 == 1.0])


def number_bools(x: Tensor):
    t = True
    f = False
    return flags([t & f, t | f, t ^ t, t ^ f, not t, t and f, f or t, t == f, t != f, bool(int(t) + int(f)), any([f, t]),
                  all([f, t]), all([t]), any([f])])


def math_powers(x: Tensor):
    return reals([math.exp(r(x, 1.5)), math.expm1(1e-5), math.log(r(x, 7.5)), math.log(r(x, 8.0), 2.0), math.log10(r(x, 50.0)),
                  math.log1p(1e-6), math.sqrt(r(x, 2.0)), math.pow(r(x, 2.0), 0.3), math.exp(n(x, 2)), math.log(n(x, 5)),
                  math.sqrt(n(x, 9)), math.log(n(x, 9), 3),
                  math.pow(n(x, 2), 3)])


def math_angles(x: Tensor):
    return reals([math.sin(r(x, 0.7)), math.cos(r(x, 0.7)), math.tan(r(x, 0.7)), math.asin(r(x, 0.3)), math.acos(r(x, 0.3)),
                  math.atan(r(x, 3.0)),
                  math.atan2(r(x, -1.0), 2.0), math.atan2(n(x, 1), -2), math.sinh(r(x, 0.5)), math.cosh(r(x, 0.5)),
                  math.tanh(r(x, 0.5)), math.asinh(r(x, 0.5)),
                  math.acosh(r(x, 1.5)), math.atanh(r(x, 0.5)), math.degrees(r(x, 1.0)), math.radians(r(x, 90.0)),
                  math.sin(n(x, 1)), math.degrees(n(x, 2))])


def math_special(x: Tensor):
    return reals([math.erf(r(x, 0.3)), math.erfc(r(x, 0.3)), math.gamma(r(x, 4.5)), math.lgamma(r(x, 4.5)), math.fabs(r(x,
                  -2.5)), math.copysign(r(x, 2.0), -0.0),
                  math.fmod(r(x, -7.5), 2.0), math.fmod(n(x, 7), -3), math.ldexp(r(x, 0.75), 4), math.remainder(r(x, 7.5),
                  2.0), math.fabs(n(x, -3))]), \
        torch.tensor([math.factorial(n(x, 6)), math.gcd(n(x, -12), 18), math.gcd(n(x, 0), 5), math.factorial(n(x, 0))])


def math_pairs(x: Tensor):
    a, b = math.modf(r(x, -3.25))
    m, e = math.frexp(r(x, 10.0))
    return reals([a, b, m, float(e)])


def math_kinds(x: Tensor):
    return flags([math.isnan(float("nan")), math.isnan(r(x, 1.0)), math.isinf(-float("inf")), math.isinf(r(x, 1.0)),
                  math.isfinite(r(x, 1.0)),
                  math.isfinite(float("inf"))])


def math_constants(x: Tensor):
    return reals([math.pi, math.e, math.tau, math.inf, -math.inf]), reals([math.nan])


def number_of_lists(x: Tensor):
    a = [3, -1, 2]
    b = [0.5, -2.5]
    return torch.tensor([sum(a), min(a), max(a), len(a)]), reals([sum(b), min(b), max(b)]), \
        flags([any(a), all(a), any(b), all([0.0, 1.0]), any([0, 0]), all([1, 2])])


def number_lists_min_max(x: Tensor):
    return torch.tensor(min([3, 1], [2, 9])), torch.tensor(max([3, 1], [3, 0, 5])), reals(max([0.5], [0.25, 2.0]))


def number_size(x: Tensor):
    n = x.size(0) * x.size(1) - 2
    return x.sum() * (n // 3) + n % 4 + (n & 6) + (n | 1) + (n ^ 5) + (n << 1) + (n >> 1) + divmod(n, 4)[0] + abs(-n)


def number_size_reals(x: Tensor):
    n = x.size(1)
    return reals([math.sqrt(n), math.log(n), n / 2, n ** 0.5, float(n), float(math.ceil(n / 3)), round(n * 0.37), math.pow(n,
                  2.0),
                  1.0 / math.sqrt(float(n)), math.exp(-n), float(math.floor(n * 0.7))])


def number_size_conditions(x: Tensor):
    n = x.size(0)
    if n % 2 == 1 and n > 2 or n == 8:
        x = x + 1
    return x[:, : n if n < 2 else 2] * (1.5 if n > 1 else 0.5)


def number_of_data(x: Tensor):
    n = int(x.abs().sum())
    y = float(x[0, 0])
    return x + n, x * y, x + (n % 5), x - (n // 2) * 0.5, x + max(n, 3), x * min(y, 0.25), x + abs(-n), x + int(n > 3)


def number_of_data_more(x: Tensor):
    n = int(x[1, 2].item())
    q, r = divmod(n, 3)
    return x + q, x + r, x * (n & 3), x + (n << 1), x + n ** 2, torch.tensor([n, -n]), torch.full([2], float(n))


def number_chained(x: Tensor):
    a = n(x, 5)
    a += 2
    a -= 1
    a *= 3
    a = a // 2
    a %= 5
    a = (int(a) << 3) | 1
    b = r(x, 1.0)
    b /= 4
    b **= 2
    return torch.tensor([a]), reals([b])


def number_limits(x: Tensor):
    return torch.tensor([9223372036854775807, n(x, -9223372036854775807) - 1, (1 << 53) + 1]), reals([1e-320, 5e-324,
    1.7976931348623157e308])


def number_precision(x: Tensor):
    return reals([r(x, 0.1) + 0.2, r(x, 1.0) / 3.0, r(x, 0.7) * 1e16, float((n(x, 1) << 53) + 1), r(x, 0.1) * 3, r(x,
                  1.1) ** 10.0])


def euclid(a: int, b: int) -> Tuple[int, int]:
    steps = 0
    while b != 0:
        a, b = b, a % b
        steps += 1
    return a, steps


def number_loops(x: Tensor):
    g, steps = euclid(1071, 462)
    total = 0
    for i in range(10, 0, -3):
        total = total * 2 + i
    for i in range(3):
        if i == 1:
            continue
        total += 100 * i
    k = 0
    while True:
        k += 1
        if k * k > 50:
            break
    return torch.tensor([g, steps, total, k])


def number_range(x: Tensor):
    step = len([1, 2])
    out: List[int] = []
    for i in range(1, 9, step):
        out.append(i)
    for i in range(len(out), -3, -step - 1):
        out.append(i)
    for i in range(x.size(0)):
        out.append(i * i)
    return torch.tensor(out)


def parts(z: complex) -> Tensor:
    return torch.view_as_real(torch.tensor(z, dtype=torch.complex128))


def number_complex(x: Tensor):
    z = c(x, 1.5 - 2j)
    w = complex(3, 0.5)
    return torch.stack([parts(z * w + 2), parts(z / w - 1.5), parts(-z), parts(z ** 2.0), parts(1j * 1j), parts(3 - z),
                        parts(2 * w),
                        parts(complex(2, 0) - w), parts(z * 0.5)]), reals([abs(z), abs(w)]), \
        flags([z == w, z != w, z == 1.5 - 2j, complex(3, 0) == 3.0])


def number_complex_math(x: Tensor):
    z = c(x, 0.5 + 1.25j)
    return torch.stack([parts(cmath.exp(z)), parts(cmath.sqrt(z)), parts(cmath.log(z)), parts(cmath.sin(z)), parts(cmath.cos(z)),
                        parts(cmath.tan(z)), parts(cmath.log10(z)), parts(cmath.asin(z)), parts(cmath.tanh(z))]), \
        reals([cmath.phase(z)]), flags([cmath.isnan(z), cmath.isinf(z), cmath.isfinite(z)])


def number_complex_list(x: Tensor):
    all = [1 + 2j, 3j, -0.5 + 0j]
    all.append(all[0] * all[1])
    return torch.stack([parts(z) for z in all]), parts(sum(all))


def number_complex_tensor(x: Tensor):
    z = torch.complex(x, x + 1) * (2 - 0.5j) + 1j
    return torch.view_as_real(z), (x * 1j).imag, torch.view_as_real(z * z), torch.view_as_real(torch.tensor(1 + 2j) * x)


def number_computed_remainder(x: Tensor):
    v = float(x.sum())
    q, m = divmod(v, 0.75)
    return reals([v % 3.0, -v % 3.0, v % -2.5, -v % -2.5, q, m, 7.5 % v])


def number_of_code(x: Tensor):
    k = n(x, 3)
    return torch.tensor([len(chr(k + 60)), int(k == 3), int(bool(k)), int(isinstance(k, int))])


def functions():
    return {name: f for name, f in globals().items() if name.startswith(("number_", "math_"))}
