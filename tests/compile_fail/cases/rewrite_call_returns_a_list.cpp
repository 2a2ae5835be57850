// rule: pattern_call
// error: aten::unbind.int: returns a list; ask for its elements with outputs<n>
// twin: (x)); => (x, outputs<1>));
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table =
    rewrites(rewrite<"r">([](pattern<14> p, capture<value> x) { return p.call<"aten::neg">(p.call<"aten::unbind.int">(x)); },
                          [](graph<14>, value x) { return x; }));
