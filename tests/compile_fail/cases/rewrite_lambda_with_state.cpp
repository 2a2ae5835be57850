// rule: state
// error: rewrite r: a lambda of a rewrite cannot capture variables; it must be [](...)
// twin: [n](graph<14>, value x) { return n == 0 ? x : x; } => [](graph<14>, value x) { return x; }
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline auto make() {
    [[maybe_unused]] double const n = 2;
    return rewrite<"r">([](pattern<14> p, capture<value> x) { return p.op<"Neg">(x); },
                        [n](graph<14>, value x) { return n == 0 ? x : x; });
}
