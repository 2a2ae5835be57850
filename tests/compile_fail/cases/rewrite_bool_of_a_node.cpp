// rule: pattern_argument
// error: Add: argument 2 cannot be in a pattern; write a capture, a part of the pattern, a number, p.ints({...}), absent, or an attribute other than a tensor or a graph
// twin: using operand = bool => using operand = value
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
using operand = bool;
inline constexpr auto table =
    rewrites(rewrite<"r">([](pattern<14> p, capture<value> x, capture<operand> y) { return p.op<"Add">(x, y); },
                          [](graph<14>, value x, operand) { return x; }));
