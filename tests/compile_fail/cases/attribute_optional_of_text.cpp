// rule: attribute_value
// error: an int attribute takes an integer, a dtype or a list of integers
// twin: std::optional<double> => std::optional<int>
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] std::optional<std::int64_t> n) {
    std::optional<double> axis;
    (void)g.op<"Softmax">(x, attr::axis_i(axis));
}
