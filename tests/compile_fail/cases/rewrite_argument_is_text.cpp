// rule: pattern_argument
// error: Add: argument 2 cannot be in a pattern; write a capture, a part of the pattern, a number, p.ints({...}), absent, or an attribute other than a tensor or a graph
// twin: "one" => 1
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table = rewrites(rewrite<"r">(
    [](pattern<14> p, capture<value> x) { return p.op<"Add">(x, "one"); }, [](graph<14>, value x) { return x; }));
