// rule: typed_value
// error: by_reference<double>
// twin: if (alpha > 3) => if (true)
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto foo = [](graph<13> g, value x, by_reference<double> alpha) -> value {
    if (alpha > 3) return x;
    return g.op<"Elu">(x, attr::alpha_f(alpha));
};
