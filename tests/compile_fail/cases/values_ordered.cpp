// rule: misuse
// error: < does not take values: write g.op<"Less">(x, y)
// twin: x < y => x.same_as(y)
#include <aton/aton.hpp>
using namespace aton::dsl;

inline value f(graph<14> g, value x, value y) {
    if (x < y) return g.op<"Neg">(x);
    return y;
}
