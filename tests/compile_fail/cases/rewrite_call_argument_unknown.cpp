// rule: pattern_call
// error: aten::elu: no argument alhpa; did you mean alpha?
// twin: alhpa => alpha
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table =
    rewrites(rewrite<"r">([](pattern<14> p, capture<value> x) { return p.call<"aten::elu">(x, arg<"alhpa">(2)); },
                          [](graph<14>, value x) { return x; }));
