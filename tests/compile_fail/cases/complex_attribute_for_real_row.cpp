// rule: unusable
// error: onnx::Concat (opset 13): argument 1 is complex; write g.real(z), g.imag(z) or g.as_real(z)
// twin: op<"Concat">(z, => op<"Concat">(g.as_real(z),
#include <aton/aton.hpp>
using namespace aton::dsl;

value f(graph<13> g, complex_value z, value x) { return g.op<"Concat">(z, x, attr::axis_i(0)); }
