// rule: compare
// error: == does not compare values: write g.op<"Equal">(x, y) for their elements, x.same_as(y) for one value
// twin: x == y => x.same_as(y)
#include <aton/aton.hpp>
using namespace aton::dsl;

value f(graph<14> g, value x, value y) {
    if (x == y) return x;
    return g.op<"Add">(x, y);
}
