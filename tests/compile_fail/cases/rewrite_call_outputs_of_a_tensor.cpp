// rule: pattern_call
// error: aten::relu: outputs<n> is for operators that return a list
// twin: (x, outputs<1>) => (x)
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table =
    rewrites(rewrite<"r">([](pattern<14> p, capture<value> x) { return p.call<"aten::relu">(x, outputs<1>); },
                          [](graph<14>, value x) { return x; }));
