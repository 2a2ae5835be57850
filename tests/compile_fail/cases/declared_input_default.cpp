// rule: declaration
// error: my_domain::Foo: an input cannot have a default; write T? for an optional one: Y
// twin: T Y=0 => T? Y
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X, T Y=0) -> (T Z)", "T: float16, float">>{};
