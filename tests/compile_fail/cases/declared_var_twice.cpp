// rule: declaration
// error: my_domain::Foo(T X) -> (T Z): a type variable is constrained twice: T
// twin: ; T: => ; U:
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X) -> (T Z)", "T: float; T: int64">>{};
