// rule: result
// error: rewrite r: the replacement must return one value
// twin: std::pair(x, x) => x
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table = rewrites(rewrite<"r">([](pattern<14> p, capture<value> x) { return p.op<"Exp">(x); },
                                                    [](graph<14>, value x) { return std::pair(x, x); }));
