// rule: result
// error: rewrite r: the replacement must return 2 values, as many as the pattern has results, in a std::tuple or std::array
// twin: return x; => return std::tuple(x, x);
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table = rewrites(rewrite<"r">(
    [](pattern<14> p, capture<value> x) {
        auto const y = p.op<"Exp">(x);
        return std::tuple(p.op<"Neg">(y), y);
    },
    [](graph<14>, value x) { return x; }));
