// rule: declaration
// error: my_domain::Foo: the default does not have the attribute's type: pads
// twin: =1) => =[1])
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X, int[] pads=1) -> (T Z)", "T: float16, float">>{};
