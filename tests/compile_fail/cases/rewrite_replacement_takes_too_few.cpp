// rule: parameters
// error: rewrite r: the replacement takes 1 parameter after the graph; it must take what the pattern captures, in the same order
// twin: value a) => value a, value)
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table =
    rewrites(rewrite<"r">([](pattern<14> p, capture<value> x, capture<value> y) { return p.op<"Add">(x, y); },
                          [](graph<14>, value a) { return a; }));
