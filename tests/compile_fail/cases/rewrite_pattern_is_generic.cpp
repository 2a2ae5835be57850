// rule: pattern
// error: rewrite r: the pattern must be a lambda [](pattern<since> p, capture<value> x, ...), whose other parameters are captures by value
// twin: auto p => pattern<14> p
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table = rewrites(rewrite<"r">([](auto p, capture<value> x) { return p.template op<"Neg">(x); },
                                                    [](graph<14>, value x) { return x; }));
