// rule: result_count
// error: my_ops::halves: the schema returns 2 results, but the body returns a list; return a std::tuple
// twin: std::vector<value>{x, g.op<"Neg">(x)} => std::tuple(x, g.op<"Neg">(x))
#include <aton/aton.hpp>
using namespace aton::dsl;
#include <vector>

inline constexpr auto rows = table(symbolic<"my_ops::halves(Tensor x) -> (Tensor, Tensor)">(
    [](graph<13> g, value x) { return std::vector<value>{x, g.op<"Neg">(x)}; }));
