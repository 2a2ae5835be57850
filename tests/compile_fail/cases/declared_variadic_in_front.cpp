// rule: declaration
// error: my_domain::Foo: only the last input may be variadic: Xs
// twin: T... Xs => T Xs
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T... Xs, T Y) -> (T Z)", "T: float16, float">>{};
