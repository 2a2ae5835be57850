// rule: declaration
// error: my_domain::Foo: two attributes have this name: n
// twin: float n => float m
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X, int n, float n) -> (T Z)", "T: float16, float">>{};
