// rule: pattern_call
// error: aten::add_.Tensor: writes to an argument; when patterns are matched, a program has only functional operators
// twin: add_ => add
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table =
    rewrites(rewrite<"r">([](pattern<14> p, capture<value> x) { return p.call<"aten::add_.Tensor">(x, x); },
                          [](graph<14>, value x) { return x; }));
