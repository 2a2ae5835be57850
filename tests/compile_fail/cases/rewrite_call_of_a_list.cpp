// rule: pattern_call
// error: aten::cat: argument tensors is Tensor[], given a value
// twin: (x, 1) => (p.list(x, x), 1)
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table =
    rewrites(rewrite<"r">([](pattern<14> p, capture<value> x) { return p.call<"aten::cat">(x, 1); },
                          [](graph<14>, value x) { return x; }));
