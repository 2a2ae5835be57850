// rule: declaration
// error: my_domain::Foo: a C++ or ATen type, which a declaration does not have: double; did you mean float?
// twin: double => float
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X, double alpha) -> (T Z)">>{};
