// rule: declaration
// error: my_domain::Foo(T X) -> (T Z): expected ':' after a type variable: float
// twin: T float => T: float
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X) -> (T Z)", "T float">>{};
