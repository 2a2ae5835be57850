// rule: number_kind
// error: onnx::Add (opset 13): input B is a floating-point number beside int64; write an integer, or cast the other input
// twin: 0.5 => 5
#include <aton/aton.hpp>
using namespace aton::dsl;

value f(graph<13> g, value x) { return g.op<"Add">(g.op<"Shape">(x), 0.5); }
