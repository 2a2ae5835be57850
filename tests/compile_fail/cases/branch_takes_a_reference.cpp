// rule: graph_attribute
// error: a parameter of the lambda is a non-const reference; take it by value
// twin: value& sum => value sum
#include <aton/aton.hpp>
using namespace aton::dsl;

inline value counted(graph<13> g, value n, value condition, value x) {
    return g.op<"Loop">(n, condition, x, attr::body_g([&](graph<13> b, value, value go_on, value& sum) { return std::tuple(go_on, b.op<"Neg">(sum)); }));
}
