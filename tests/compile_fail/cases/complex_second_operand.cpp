// rule: unusable
// error: onnx::Mul (opset 14): argument 2 is complex; write g.real(z), g.imag(z) or g.as_real(z)
// twin: (x, z) => (x, g.imag(z))
#include <aton/aton.hpp>
using namespace aton::dsl;

value f(graph<14> g, value x, complex_value z) { return g.op<"Mul">(x, z); }
