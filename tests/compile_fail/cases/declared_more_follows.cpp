// rule: declaration
// error: my_domain::Foo: nothing may follow the outputs: -> (T Y)
// twin:  -> (T Y)" => "
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X) -> (T Z) -> (T Y)", "T: float16, float">>{};
