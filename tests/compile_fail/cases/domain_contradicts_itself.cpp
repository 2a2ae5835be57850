// rule: domain_declarations
// error: my_domain::Foo: declared twice, with different signatures
// twin: "Foo(T X, T Y) => "Bar(T X, T Y)
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto first = domain<"my_domain", 1, op<"Foo(T X) -> (T Z)">>{};
inline constexpr auto second = domain<"my_domain", 1, op<"Foo(T X, T Y) -> (T Z)">>{};
value f(graph<13, first, second> g, value x) { return g.op<"my_domain::Foo">(x); }
