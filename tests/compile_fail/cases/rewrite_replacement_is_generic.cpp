// rule: replacement
// error: rewrite r: the replacement must be a lambda whose first parameter is a graph<...> by value, with no auto parameters; if it has an error, correct that first
// twin: auto, value => graph<14>, value
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table = rewrites(
    rewrite<"r">([](pattern<14> p, capture<value> x) { return p.op<"Exp">(x); }, [](auto, value x) { return x; }));
