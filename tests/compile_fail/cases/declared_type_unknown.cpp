// rule: declaration
// error: or write tensor(float): U
// twin: (U X) => (T X)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(U X) -> (T Z)", "T: float16, float">>{};
