// rule: domain
// error: my_domain::Foo: declared twice
// twin: op<"Foo(any X) => op<"Bar(any X)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X) -> (T Z)", "T: float">, op<"Foo(any X) -> (any Z)">>{};
