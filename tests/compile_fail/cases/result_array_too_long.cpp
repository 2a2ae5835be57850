// rule: result_count
// error: my::two: the schema returns 2 results, but the body returns 3
// twin: {x, x, x} => {x, x}
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto rows = table(symbolic<"my::two(Tensor x) -> (Tensor, Tensor)">([](graph<13>, value x) { return std::array{x, x, x}; }));
