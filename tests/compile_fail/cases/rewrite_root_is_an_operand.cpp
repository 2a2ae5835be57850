// rule: root
// error: rewrite r: the result of the pattern must be a node, the result of p.op<...>(...) or p.call<...>(...)
// twin: p.op<"Exp">(x), x => p.op<"Exp">(x), p.op<"Neg">(x)
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table = rewrites(rewrite<"r">(
    [](pattern<14> p, capture<value> x) { return p.either(p.op<"Exp">(x), x); }, [](graph<14>, value x) { return x; }));
