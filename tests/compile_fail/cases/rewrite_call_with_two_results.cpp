// rule: further
// error: rewrite r: a pattern of ATen calls has one result
// twin: return std::tuple(p.call<"aten::neg">(y), y); => return p.call<"aten::neg">(y);
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table = rewrites(rewrite<"r">(
    [](pattern<14> p, capture<value> x) {
        auto const y = p.call<"aten::exp">(x);
        return std::tuple(p.call<"aten::neg">(y), y);
    },
    [](graph<14>, value x) { return x; }));
