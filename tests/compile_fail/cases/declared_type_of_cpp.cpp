// rule: declaration
// error: my_domain::Foo: C++ and ATen call it so, a declaration does not: double; did you mean float?
// twin: double => float
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X, double alpha) -> (T Z)">>{};
