// rule: unusable
// error: onnx::Sum (opset 13): argument 1 is complex; write g.real(z), g.imag(z) or g.as_real(z)
// twin: (z, z) => (g.as_real(z), g.as_real(z))
#include <aton/aton.hpp>
using namespace aton::dsl;

value f(graph<13> g, complex_value z) { return g.op<"Sum">(z, z); }
