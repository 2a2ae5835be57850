// rule: declaration
// error: my_domain::Foo: no input has this name: input_0; did you mean input_1?
// twin: like(input_0) => like(input_1)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T input_1) -> (T Z = like(input_0))", "T: float16, float">>{};
