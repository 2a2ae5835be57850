// rule: no_effect
// error: _C::silu_and_mul: the schema has no results and marks no argument that the operator writes to; write Tensor(a!) for each of them, or return no_effect if calls may be left out
// twin: Tensor result => Tensor(a!) result
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"_C::silu_and_mul(Tensor result, Tensor input) -> ()">(
        [](graph<13> g, value, value input) { return g.op<"Sigmoid">(input); }));
