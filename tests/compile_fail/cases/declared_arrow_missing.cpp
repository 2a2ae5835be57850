// rule: declaration
// error: my_domain::Foo: expected '-> (T Z)' after the parameters
// twin: ) = (T Z) => ) -> (T Z)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X) = (T Z)", "T: float16, float">>{};
