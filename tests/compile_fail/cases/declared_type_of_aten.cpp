// rule: declaration
// error: my_domain::Foo: C++ and ATen call it so, a declaration does not: Tensor; did you mean T?
// twin: Tensor => T
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(Tensor X) -> (T Z)">>{};
