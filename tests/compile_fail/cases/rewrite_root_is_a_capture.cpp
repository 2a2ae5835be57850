// rule: root
// error: rewrite r: the result of the pattern must be a node, the result of p.op<...>(...) or p.call<...>(...)
// twin: return x; }, => return p.op<"Neg">(x); },
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table = rewrites(rewrite<"r">([]([[maybe_unused]] pattern<14> p, capture<value> x) { return x; },
                                                    [](graph<14>, value v) { return v; }));
