// rule: parameter_type
// error: aten::nan_to_num: argument nan is float?, but the parameter takes float or Scalar; write std::optional<double>
// twin: double nan => std::optional<double> nan
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"aten::nan_to_num(self, nan)">([](graph<13> g, value self, double nan) {
        static_cast<void>(g);
        static_cast<void>(nan);
        return self;
    }));
