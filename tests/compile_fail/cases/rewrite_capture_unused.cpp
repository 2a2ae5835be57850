// rule: unused_capture
// error: rewrite r: capture 2 is not used in the pattern
// twin: p.op<"Abs">(x) => p.op<"Add">(x, y)
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table = rewrites(
    rewrite<"r">([](pattern<14> p, capture<value> x, [[maybe_unused]] capture<value> y) { return p.op<"Abs">(x); },
                 [](graph<14>, value x, value) { return x; }));
