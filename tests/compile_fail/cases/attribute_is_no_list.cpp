// rule: attribute_type
// error: onnx::Gather (opset 13): attribute axis is an int, given ints
// twin: ({1}) => (1)
#include <aton/aton.hpp>
using namespace aton::dsl;
value build(graph<13> g, value x, value i) {
    return g.op<"Gather">(x, i, attr::axis_i({1}));
}
