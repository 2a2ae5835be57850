// rule: declaration
// error: my_domain::Foo: two inputs have this name: X
// twin: T? X => T? Y
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X, T? X) -> (T Z)", "T: float16, float">>{};
