// rule: condition
// error: rewrite r: the condition must take what the pattern captures, in the same order, and return bool
// twin: [](value) {} => [](value) { return true; }
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table = rewrites(rewrite<"r">([](pattern<14> p, capture<value> x) { return p.op<"Exp">(x); },
                                                    [](value) {}, [](graph<14>, value x) { return x; }));
