// rule: result_type
// error: rewrite r: the replacement returns bool, but the pattern is
// twin: "Equal" => "Add"
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table = rewrites(rewrite<"r">([](pattern<14> p, capture<value> x) { return p.op<"Exp">(x); },
                                                    [](graph<14> g, value x) { return g.op<"Equal">(x, x); }));
