// rule: unbound_capture
// error: rewrite r: capture 2 is missing in an alternative of p.either(...); it must be in all
// twin: p.op<"Exp">(x)) => p.op<"Mul">(x, y))
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table =
    rewrites(rewrite<"r">([](pattern<14> p, capture<value> x,
                             capture<value> y) { return p.op<"Neg">(p.either(p.op<"Add">(x, y), p.op<"Exp">(x))); },
                          [](graph<14>, value x, value) { return x; }));
