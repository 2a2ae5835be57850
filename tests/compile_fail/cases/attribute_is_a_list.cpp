// rule: attribute_type
// error: onnx::Conv (opset 11): attribute strides is ints, given an int
// twin: (2) => ({2, 3})
#include <aton/aton.hpp>
using namespace aton::dsl;
value build(graph<11> g, value x, value w) {
    return g.op<"Conv">(x, w, attr::strides_i(2));
}
