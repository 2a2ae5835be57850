// rule: graph_attribute
// error: a graph attribute takes a lambda whose first parameter is a graph<...> by value, with no auto parameters; if it has an error, correct that first
// twin: auto b => graph<13> b
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"If">(c, attr::then_branch_g([&](auto b) { return b.template op<"Neg">(x); }),
               attr::else_branch_g([&](graph<13>) { return x; }));
}
