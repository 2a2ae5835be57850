// rule: declaration
// error: my_domain::Foo: no such type: flaot; did you mean float?
// twin: tensor(flaot) => tensor(float)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X, tensor(flaot) Y) -> (T Z)", "T: float16, float">>{};
