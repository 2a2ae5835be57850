// rule: attribute_type
// error: onnx::Pad (opset 13): attribute mode is a string, given an int
// twin: attr_i<"mode">(0) => attr_s<"mode">("edge")
#include <aton/aton.hpp>
using namespace aton::dsl;
value build(graph<13> g, value x, value pads) {
    return g.op<"Pad">(x, pads, attr_i<"mode">(0));
}
