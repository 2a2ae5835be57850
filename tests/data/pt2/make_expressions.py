#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes expressions.txt: size expressions as torch writes them, and what sympy computes of them.

    python make_expressions.py > expressions.txt      (needs torch)

A line has five fields between tabs: srepr, str, and the value at each of the three points; "-" where it is no integer.
"""
import sympy
import torch.utils._sympy.functions as f
from sympy import Abs, And, Eq, Float, Ne, Not, Or, Piecewise, Rational, Symbol, ceiling, floor, srepr

s, t = Symbol("s0", positive=True, integer=True), Symbol("s53", positive=True, integer=True)
u = Symbol("u0", integer=True)
points = [{s: 7, t: 12, u: -5}, {s: 1, t: 5, u: 4}, {s: 64, t: 30, u: 0}]
x = f.ToFloat(s)

expressions = [
    s, s + 1, 2 * s + 1, -s, 3 * s - 2 * t, s * t * 4, 2 * s * (u + 1), s**2 + 1, s**3 - t**2, s * t + u * s,
    f.FloorDiv(s, 2), f.FloorDiv(u, 3), f.FloorDiv(f.FloorDiv(s, 2) + 1, 3), s + f.FloorDiv(t, 2), 2 * f.FloorDiv(s + 1, 2) + 3,
    f.FloorDiv(s * t, 5), f.FloorDiv(t, s), f.FloorDiv(-3 * s + 1, 4), f.CleanDiv(6 * t, 3), f.CeilDiv(s, 3),
    s / 2, s / 3 - 1, s * t / 6, Rational(2, 3) * t, 1 / s, 1 / (s + t),
    f.Mod(s, 3), f.Mod(s * t + 1, 4), f.PythonMod(u, 3), f.PythonMod(u, -4), f.ModularIndexing(s, 2, 3),
    f.ModularIndexing(t, 1, 5), f.Max(1, u), f.Max(s, u + 1, 3), f.Min(4, u), f.Min(s, t) + f.Max(s, t),
    f.IntTrueDiv(s, 3), f.TruncToInt(f.IntTrueDiv(u, 3)), f.TruncToInt(f.IntTrueDiv(t, s)), f.FloatTrueDiv(x, Float(2.5)),
    f.FloorToInt(x / 3), f.CeilToInt(x / 3), f.RoundToInt(x / 2), floor(s / 2), ceiling(s / 3),
    floor(u / 2), ceiling(u / 2), Abs(u), Abs(u) * s, f.LShift(s, 2), f.RShift(t, 1), f.PowByNatural(u, 3),
    f.FloatPow(x, Float(2.0)), Float(0.1) * 10 * s, s > 4, s >= 7, t < 12, t <= 12, Eq(s, 7), Ne(u, 4), Eq(s + t, 19),
    And(s > 4, u < 3), Or(s > 4, Ne(u, 4)), Not(Eq(s, 7)), Piecewise((s, s > 4), (u, True)),
    Piecewise((s + 1, u > 0), (t, Eq(s, 7))), f.Where(s > 4, s, u),
]


def value(e, point) -> str:
    result = e.subs(point)
    if result in (sympy.true, sympy.false):
        return str(int(bool(result)))
    number = complex(result)
    return str(int(number.real)) if number.imag == 0 and number.real.is_integer() else "-"


for e in expressions:
    print(srepr(e), e, *(value(e, p) for p in points), sep="\t")
