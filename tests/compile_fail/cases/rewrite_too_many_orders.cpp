// rule: variants
// error: rewrite r: the orders of commutative operands and the alternatives of p.either(...) make more than 1024 patterns; split the rewrite
// twin: p.op<"Min">(p.op<"Add">(c, x), p.op<"Mul">(c, y)) => x
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table = rewrites(rewrite<"r">(
    [](pattern<14> p, capture<value> x, capture<value> y) {
        auto const a = p.op<"Add">(x, y);
        auto const b = p.op<"Add">(a, p.op<"Mul">(x, y));
        auto const c = p.op<"Mul">(b, p.op<"Max">(y, a));
        return p.op<"Sub">(c, p.op<"Min">(p.op<"Add">(c, x), p.op<"Mul">(c, y)));
    },
    [](graph<14>, value x, value) { return x; }));
