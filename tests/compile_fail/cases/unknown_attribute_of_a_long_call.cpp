// rule: no_such_attribute
// error: onnx::QLinearConv (opset 10): no attribute grup; did you mean group?
// twin: attr_i<"grup"> => attr_i<"group">
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, value x, value scale, value zero) {
    (void)g.op<"QLinearConv">(x, scale, zero, x, scale, zero, scale, zero, absent, attr_i<"grup">(2));
}
