// rule: pattern_call
// error: aten::relu: a call has no constant tensors; write capture<value>
// twin: using operand = tensor => using operand = value
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
using operand = tensor;
inline constexpr auto table =
    rewrites(rewrite<"r">([](pattern<14> p, capture<operand> x) { return p.call<"aten::relu">(x); },
                          [](graph<14> g, operand const&) { return g.scalar(1, dtype::float32); }));
