// rule: schema_default
// error: my::f: argument k is int[2], but its default is [1]
// twin: [1] => [1, 2]
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto rows = table(symbolic<"my::f(Tensor x, int[2] k=[1]) -> Tensor">([](graph<13>, value x, std::span<std::int64_t const>) { return x; }));
