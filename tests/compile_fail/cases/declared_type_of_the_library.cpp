// rule: declaration
// error: my_domain::Foo: a C++ or ATen type, which a declaration does not have: std; did you mean int or string?
// twin: std::string => string
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X, std::string mode) -> (T Z)">>{};
