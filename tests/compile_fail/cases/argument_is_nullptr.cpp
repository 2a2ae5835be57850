// rule: unusable
// error: onnx::Clip (opset 13): argument 2 is nullptr; write absent for an input that is left out
// twin: nullptr => absent
#include <aton/aton.hpp>
using namespace aton::dsl;

inline value f(graph<13> g, value x) { return g.op<"Clip">(x, nullptr, 1.5); }
