// rule: domain
// error: my_domain: the version of a domain must be 1 or more
// twin: 0, op => 1, op
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto my_domain = domain<"my_domain", 0, op<"Foo(T X) -> (T Z)", "T: float16, float">>{};
