// rule: conversion
// error: deleted function
// twin: graph<11, 15> g => graph<14, 15> g
#include <aton/aton.hpp>
using namespace aton::dsl;
inline value helper(graph<13> g, value x) { return g.op<"Neg">(x); }
inline value build(graph<11, 15> g, value x) { return helper(g, x); }
