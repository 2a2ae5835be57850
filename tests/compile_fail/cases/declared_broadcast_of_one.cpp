// rule: declaration
// error: my_domain::Foo: broadcast takes two inputs
// twin: broadcast(X) => broadcast(X, Y)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X, T Y) -> (T Z = broadcast(X))", "T: float16, float">>{};
