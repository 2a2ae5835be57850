// rule: range
// error: graph<Since, Until>: 1 <= Since <= Until <= newest opset
// twin: graph<13, 11> => graph<13, 15>
#include <aton/aton.hpp>
using namespace aton::dsl;
value build(graph<13, 11> g, value x) {
    return g.op<"Relu">(x);
}
