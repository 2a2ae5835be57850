// rule: range
// error: rewrite r: the pattern covers opsets 14 to
// twin: graph<18> => graph<14>
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table = rewrites(
    rewrite<"r">([](pattern<14> p, capture<value> x) { return p.op<"Neg">(x); }, [](graph<18>, value x) { return x; }));
