// rule: conversion
// error: deleted function
// twin: build(graph<13> g => build(graph<13, my_domain> g
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto my_domain = domain<
    "my_domain", 3, op<"Blend(T X, T Y, T? Mask, float alpha, int n=1, float[] knots=[0.5, 2], string mode='a') -> (T Z)", "T: float16, float">,
    op<"Pieces(tensor(int64) At, T... Parts) -> (T First, T? Rest)", "T: float, int64">>{};
inline value blended(graph<13, my_domain> g, value x) { return g.op<"my_domain::Blend">(x, x, attr_f<"alpha">(0.5)); }
inline value build(graph<13> g, value x) { return blended(g, x); }
