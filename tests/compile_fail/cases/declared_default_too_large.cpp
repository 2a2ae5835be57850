// rule: declaration
// error: my_domain::Foo: the default does not have the attribute's type: a
// twin: 3.5e38 => 3.4e38
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X, float a=3.5e38) -> (T Z)">>{};
