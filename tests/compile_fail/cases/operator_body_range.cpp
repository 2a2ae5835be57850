// rule: operator_body
// error: my_domain::Foo: its body covers opsets 18 to 28, but the graph covers 13 to 28
// twin: build(graph<13, => build(graph<18,
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto foo = [](graph<18> g, value x) { return g.op<"Neg">(x); };
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X) -> (T Z)", "T: float", body<foo>>>{};
inline value build(graph<13, my_domain> g, value x) { return g.op<"my_domain::Foo">(x); }
