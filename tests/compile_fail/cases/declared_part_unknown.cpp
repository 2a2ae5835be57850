// rule: domain
// error: my_domain::Foo: after the constraints may stand infer<...> and body<...>
// twin: , 7> => >
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X) -> (T Z)", "T: float", 7>>{};
