// rule: parameter_type
// error: aten::leaky_relu: argument negative_slope is Scalar, but the parameter takes Tensor; write scalar
// twin: complex_value slope => double slope
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto row = symbolic<"aten::leaky_relu(self, negative_slope)">([](graph<16> g, value x, complex_value slope) {
    (void)slope;
    return g.op<"Relu">(x);
});
