// rule: compare
// error: == does not compare values: write g.op<"Equal">(x, y) for their elements, x.same_as(y) for one value
// twin: x == 0 => x.rank() == 0
#include <aton/aton.hpp>
using namespace aton::dsl;

inline value f(graph<14> g, value x) {
    if (x == 0) return x;
    return g.op<"Neg">(x);
}
