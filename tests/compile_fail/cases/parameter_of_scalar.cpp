// rule: parameter_type
// error: aten::elu: argument alpha is Scalar, but the parameter takes Tensor; write scalar
// twin: value alpha => scalar alpha
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"aten::elu(self, alpha)">([](graph<13> g, value self, value alpha) {
        static_cast<void>(g);
        static_cast<void>(alpha);
        return self;
    }));
