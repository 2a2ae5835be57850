// rule: parameter
// error: rewrite r: parameter 2 of the replacement does not match capture 2; write std::int64_t
// twin: value a, double) => value a, std::int64_t)
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table = rewrites(rewrite<"r">(
    [](pattern<14> p, capture<value> x, capture<std::int64_t> axis) { return p.op<"Softmax">(x, attr::axis_i(axis)); },
    [](graph<14>, value a, double) { return a; }));
