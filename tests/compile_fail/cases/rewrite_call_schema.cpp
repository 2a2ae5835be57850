// rule: pattern_call
// error: my::f: the schema has an error: expected ',' or ')' after an argument
// twin: x -> Tensor" => x) -> Tensor"
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table =
    rewrites(rewrite<"r">([](pattern<14> p, capture<value> x) { return p.call<"my::f(Tensor x -> Tensor">(x); },
                          [](graph<14>, value x) { return x; }));
