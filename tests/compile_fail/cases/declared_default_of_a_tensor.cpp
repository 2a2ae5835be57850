// rule: declaration
// error: my_domain::Foo: a tensor or graph attribute cannot have a default; write tensor? for an optional one: w
// twin: tensor w=0 => tensor? w
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X, tensor w=0) -> (T Z)", "T: float16, float">>{};
