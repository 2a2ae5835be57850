// rule: overload_called_default
// error: aten::relu.default: the default overload has no name in a schema; write aten::relu
// twin: aten::relu.default => aten::relu
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table =
    rewrites(rewrite<"r">([](pattern<14> p, capture<value> x) { return p.call<"aten::relu.default">(x); },
                          [](graph<14>, value x) { return x; }));
