// rule: parameter_type
// error: aten::elu: argument alpha is Scalar, but the parameter takes Tensor; write scalar
// twin: value alpha => double alpha
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    override_<"aten::elu(self, alpha)">([](graph<13> g, value self, value alpha) { return g.op<"Mul">(self, alpha); }));
