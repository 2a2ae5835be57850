// rule: capture_type
// error: rewrite r: a capture is of a value, tensor, scalar, double, std::int64_t, std::vector<std::int64_t>, std::string, dtype or bool
// twin: capture<int> => capture<std::int64_t>
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table =
    rewrites(rewrite<"r">([](pattern<14> p, capture<value> x, capture<int> n) { return p.op<"Add">(x, n); },
                          [](graph<14>, value x, std::int64_t) { return x; }));
