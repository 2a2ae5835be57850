// rule: declaration
// error: my_domain::Foo: only the last output may be variadic: Ys
// twin: T... Ys => T? Ys
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X) -> (T... Ys, T Z)", "T: float16, float">>{};
