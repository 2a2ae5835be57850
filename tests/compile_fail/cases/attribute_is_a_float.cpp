// rule: attribute_type
// error: onnx::LeakyRelu (opset 6): attribute alpha is a float, given an int
// twin: attr_i => attr_f
#include <aton/aton.hpp>
using namespace aton::dsl;
value build(graph<6> g, value x) {
    return g.op<"LeakyRelu">(x, attr_i<"alpha">(1));
}
