// rule: unusable
// error: onnx::Softmax (opset 13): argument 2 is text; an attribute is written attr::mode_s(text), attr::axis_i(1)
// twin: "axis", 1 => attr::axis_i(1)
#include <aton/aton.hpp>
using namespace aton::dsl;

inline value f(graph<13> g, value x) { return g.op<"Softmax">(x, "axis", 1); }
