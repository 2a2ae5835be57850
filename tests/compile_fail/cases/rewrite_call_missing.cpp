// rule: pattern_call
// error: aten::lerp.Scalar: argument weight (Scalar) is missing
// twin: (x, x) => (x, x, 0.5)
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table =
    rewrites(rewrite<"r">([](pattern<14> p, capture<value> x) { return p.call<"aten::lerp.Scalar">(x, x); },
                          [](graph<14>, value x) { return x; }));
