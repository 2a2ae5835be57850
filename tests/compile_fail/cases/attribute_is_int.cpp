// rule: attribute_type
// error: onnx::Softmax (opset 13): attribute axis is an int, given a float
// twin: attr_f => attr_i
#include <aton/aton.hpp>
using namespace aton::dsl;
value build(graph<13> g, value x) {
    return g.op<"Softmax">(x, attr_f<"axis">(1));
}
