// rule: declaration
// error: my_domain::Foo(T X) -> (T Z): no such type: float61; did you mean float16?
// twin: float61 => float64
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X) -> (T Z)", "T: float61">>{};
