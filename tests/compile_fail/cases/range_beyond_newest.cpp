// rule: range
// error: graph<Since, Until>: 1 <= Since <= Until <= newest opset
// twin: graph<13, 99> => graph<13, 19>
#include <aton/aton.hpp>
using namespace aton::dsl;
value build(graph<13, 99> g, value x) {
    return g.op<"Relu">(x);
}
