// rule: declaration
// error: my_domain::Foo: two outputs have this name: Z
// twin: T Z, => T Y,
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X) -> (T Z, T Z)", "T: float16, float">>{};
