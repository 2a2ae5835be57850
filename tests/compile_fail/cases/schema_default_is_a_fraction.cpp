// rule: schema_default
// error: my::f: argument a is int, but its default is 1.5
// twin: 1.5 => 15
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto rows = table(symbolic<"my::f(Tensor x, int a=1.5) -> Tensor">([](graph<13>, value x, std::int64_t) { return x; }));
