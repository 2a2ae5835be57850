// rule: declaration
// error: my_domain::Foo: expected a name after the type: T
// twin: T, => T X,
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T, T Y) -> (T Z)", "T: float16, float">>{};
