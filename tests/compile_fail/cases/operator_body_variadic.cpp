// rule: operator_body
// error: my_domain::Foo: input Xs is variadic; a body takes a fixed number of inputs
// twin: T... Xs => T Xs
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto foo = [](graph<13> g, value x) { return g.op<"Neg">(x); };
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T... Xs) -> (T Z)", "T: float", body<foo>>>{};
