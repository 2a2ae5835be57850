// rule: unused_node
// error: rewrite r: node Exp is not part of the result of the pattern
// twin: p.op<"Neg">(x) => p.op<"Neg">(e)
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table = rewrites(rewrite<"r">(
    [](pattern<14> p, capture<value> x) {
        [[maybe_unused]] auto const e = p.op<"Exp">(x);
        return p.op<"Neg">(x);
    },
    [](graph<14>, value x) { return x; }));
