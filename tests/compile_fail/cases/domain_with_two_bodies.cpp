// rule: domain_declarations
// error: my_domain::Foo: declared twice, with different bodies
// twin: body<back> => body<forth>
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto forth = [](graph<13> g, value x) { return g.op<"Neg">(x); };
inline constexpr auto back = [](graph<13> g, value x) { return g.op<"Abs">(x); };
inline constexpr auto first = domain<"my_domain", 1, op<"Foo(T X) -> (T Z)", "", body<forth>>>{};
inline constexpr auto second = domain<"my_domain", 1, op<"Foo(T X) -> (T Z)", "", body<back>>>{};
value f(graph<13, first, second> g, value x) { return g.op<"my_domain::Foo">(x); }
