// rule: domain_versions
// error: graph<...> names one domain in two versions; a model imports only one version of a domain
// twin: "my_domain", 2 => "my_domain", 1
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto first = domain<"my_domain", 1, op<"Foo(T X) -> (T Z)">>{};
inline constexpr auto second = domain<"my_domain", 2, op<"Bar(T X) -> (T Z)">>{};
value f(graph<13, first, second> g, value x) { return g.op<"my_domain::Foo">(x); }
