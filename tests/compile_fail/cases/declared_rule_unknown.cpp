// rule: declaration
// error: my_domain::Foo: expected like(X) or broadcast(X, Y) after '=': same
// twin: = same(X) => = like(X)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X) -> (T Z = same(X))", "T: float16, float">>{};
