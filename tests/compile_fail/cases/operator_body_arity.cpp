// rule: operator_body
// error: my_domain::Foo: the declaration has 2 inputs and 2 attributes, but the body takes 3 after the graph
// twin: double) => double, std::optional<std::int64_t>)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto foo = [](graph<13> g, value x, optional_value, double) { return g.op<"Neg">(x); };
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X, T? B, float alpha, int? n) -> (T Z)", "T: float", body<foo>>>{};
