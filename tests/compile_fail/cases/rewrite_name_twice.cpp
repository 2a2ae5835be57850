// rule: duplicate
// error: rewrite r: two rows of the table with this name cover opset 14; their ranges must not overlap
// twin: rewrite<"r">(one, => rewrite<"s">(one,
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto one = [](pattern<14> p, capture<value> x) { return p.op<"Exp">(x); };
inline constexpr auto same = [](graph<14>, value x) { return x; };
inline constexpr auto table = rewrites(
    rewrite<"r">([](pattern<13> p, capture<value> x) { return p.op<"Neg">(x); }, [](graph<13>, value x) { return x; }),
    rewrite<"r">(one, same));
