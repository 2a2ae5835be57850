// rule: parameter
// error: rewrite r: parameter 2 of the replacement does not match capture 2; write double
// twin: value a, value) => value a, double)
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table =
    rewrites(rewrite<"r">([](pattern<14> p, capture<value> x, capture<double> y) { return p.op<"Add">(x, y); },
                          [](graph<14>, value a, value) { return a; }));
