// rule: number_kind
// error: onnx::Min (opset 13): input data_0 is a floating-point number beside int8; write an integer, or cast the other input
// twin: 10.0 => 10
#include <aton/aton.hpp>
using namespace aton::dsl;

value f(graph<13> g, value x) { return g.op<"Min">(g.cast<dtype::int8>(x), 10.0); }
