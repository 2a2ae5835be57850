// rule: declaration
// error: my_domain::Foo: expected '(' before the outputs: T
// twin: -> T => -> (T Z)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X) -> T", "T: float16, float">>{};
