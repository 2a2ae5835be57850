// rule: operator_body
// error: my_domain::Foo: the body must be a lambda whose first parameter is a graph<...> by value, with no auto parameters; if it has an error, correct that first
// twin: auto x => value x
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto foo = [](graph<13> g, auto x) { return g.template op<"Neg">(x); };
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X) -> (T Z)", "T: float", body<foo>>>{};
