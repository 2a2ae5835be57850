// rule: unusable
// error: onnx::Neg (opset 13): argument 1 is complex; write g.real(z), g.imag(z) or g.as_real(z)
// twin: op<"Neg">(z) => op<"Neg">(g.real(z))
#include <aton/aton.hpp>
using namespace aton::dsl;

value f(graph<13> g, complex_value z) { return g.op<"Neg">(z); }
