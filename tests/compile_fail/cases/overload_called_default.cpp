// rule: overload_called_default
// error: _C::silu_and_mul.default: the default overload has no name in a schema; write _C::silu_and_mul(...)
// twin: silu_and_mul.default => silu_and_mul
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"_C::silu_and_mul.default(Tensor(a!) result, Tensor input) -> ()">(
        [](graph<13> g, value, value input) { return g.op<"Sigmoid">(input); }));
