// rule: result_kind
// error: my::two: result 1 is Tensor; return a value
// twin: std::vector<value>{x}, std::vector<value>{x} => x, x
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto rows = table(symbolic<"my::two(Tensor x) -> (Tensor, Tensor)">([](graph<13>, value x) { return std::array{std::vector<value>{x}, std::vector<value>{x}}; }));
