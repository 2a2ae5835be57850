// rule: absent_in_a_tuple
// error: absent is not a value: write optional_value where a value may be absent
// twin: std::tuple<value, value> => std::tuple<value, optional_value>
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto rows = table(symbolic<"my_ops::norm(Tensor x) -> (Tensor, Tensor)">(
    [](graph<13> g, value x) -> std::tuple<value, value> { return {g.op<"Relu">(x, outputs<1>), absent}; }));
