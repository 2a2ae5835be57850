// rule: ints
// error: g.ints takes a list of integers or of sizes
// twin: g.ints(1) => g.ints({1})
#include <aton/aton.hpp>
using namespace aton::dsl;

value f(graph<13> g, value x) { return g.op<"Unsqueeze">(x, g.ints(1)); }
