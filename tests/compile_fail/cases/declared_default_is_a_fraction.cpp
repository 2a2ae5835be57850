// rule: declaration
// error: my_domain::Foo: the default does not have the attribute's type: n
// twin: 1.5 => 15
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X, int n=1.5) -> (T Z)", "T: float16, float">>{};
