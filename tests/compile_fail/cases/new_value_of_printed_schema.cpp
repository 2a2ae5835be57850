// rule: new_values
// error: my::fill: the body returns 2 values, not 1: the new value of out, which the operator writes to
// twin: std::tuple<value, value>{out, out} => out
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto rows = table(
    symbolic<"my::fill(Tensor($0! -> ) out, Tensor x) -> ()">([](graph<13>, value out, value) { return std::tuple<value, value>{out, out}; }));
