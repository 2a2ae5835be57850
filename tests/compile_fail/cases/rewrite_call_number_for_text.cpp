// rule: pattern_call
// error: aten::gelu: argument approximate is str, given a floating-point number
// twin: 1.5 => "tanh"
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table =
    rewrites(rewrite<"r">([](pattern<14> p, capture<value> x) { return p.call<"aten::gelu">(x, 1.5); },
                          [](graph<14>, value x) { return x; }));
