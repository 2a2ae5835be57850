// SPDX-License-Identifier: MIT
// A plugin whose operators are registered with torch, which is the only reference for them: a correct row, a wrong one, one with another
// schema, one of an operator that ends the process, and one of an operator that is not registered.
#include <csignal>

#include <ATen/ATen.h>
#include <torch/library.h>

#include <aton/aton.hpp>
#include <aton/plugin.hpp>

namespace {

using namespace aton::dsl;

at::Tensor twice(at::Tensor const& x) { return x * 2; }
at::Tensor leaves(at::Tensor const& x) {
    std::raise(SIGSEGV);
    return x;
}

constexpr auto mine =
    table(symbolic<"verify_demo::right(Tensor x) -> Tensor">([](graph<13> g, value x) { return g.op<"Add">(x, x); }),
          symbolic<"verify_demo::wrong(Tensor x) -> Tensor">([](graph<13> g, value x) { return g.op<"Neg">(x); }),
          symbolic<"verify_demo::renamed(Tensor y) -> Tensor">([](graph<13> g, value y) { return g.op<"Add">(y, y); }),
          symbolic<"verify_demo::crashes(Tensor x) -> Tensor">([](graph<13> g, value x) { return g.op<"Add">(x, x); }),
          symbolic<"verify_demo::unknown(Tensor x) -> Tensor">([](graph<13> g, value x) { return g.op<"Add">(x, x); }));

} // namespace

TORCH_LIBRARY(verify_demo, m) {
    m.def("right(Tensor x) -> Tensor", twice);
    m.def("wrong(Tensor x) -> Tensor", twice);
    m.def("renamed(Tensor x) -> Tensor", twice);
    m.def("crashes(Tensor x) -> Tensor", leaves);
}

ATON_PLUGIN(mine)
