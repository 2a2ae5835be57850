// rule: compare
// error: == does not compare values: write g.op<"Equal">(x, y) for their elements, x.same_as(y) for one value
// twin: g.op<"Shape">(x) != g.op<"Shape">(y) => !g.op<"Shape">(x).same_as(g.op<"Shape">(y))
#include <aton/aton.hpp>
using namespace aton::dsl;

bool differ(graph<14> g, value x, value y) { return g.op<"Shape">(x) != g.op<"Shape">(y); }
