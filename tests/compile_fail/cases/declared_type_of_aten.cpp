// rule: declaration
// error: my_domain::Foo: a C++ or ATen type, which a declaration does not have: Tensor; did you mean T?
// twin: Tensor => T
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(Tensor X) -> (T Z)">>{};
