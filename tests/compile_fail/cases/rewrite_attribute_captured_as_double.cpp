// rule: attribute_kind
// error: an int attribute takes an integer, a dtype or a list of integers
// twin: capture<double> => capture<std::int64_t>
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
struct axis_number {
    axis_number(std::int64_t) {}
    axis_number(double) {}
};
inline constexpr auto table = rewrites(rewrite<"r">(
    [](pattern<14> p, capture<value> x, capture<double> axis) { return p.op<"Softmax">(x, attr::axis_i(axis)); },
    [](graph<14>, value x, axis_number const&) { return x; }));
