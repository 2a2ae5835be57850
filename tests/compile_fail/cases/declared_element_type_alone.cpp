// rule: declaration
// error: my_domain::Foo: a C++ or ATen type, which a declaration does not have: float16; did you mean tensor(...)?
// twin: float16 X => tensor(float16) X
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(float16 X) -> (T Z)">>{};
