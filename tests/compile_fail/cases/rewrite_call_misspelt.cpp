// rule: pattern_call
// error: aten::muul.Tensor: no such ATen operator; did you mean aten::mul.Tensor?
// twin: muul => mul
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table =
    rewrites(rewrite<"r">([](pattern<14> p, capture<value> x) { return p.call<"aten::muul.Tensor">(x, x); },
                          [](graph<14>, value x) { return x; }));
