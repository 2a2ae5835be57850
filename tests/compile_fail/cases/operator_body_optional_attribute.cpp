// rule: operator_body
// error: my_domain::Foo: attribute n does not match its parameter of the body; write std::optional<std::int64_t>
// twin: double, std::int64_t) => double, std::optional<std::int64_t>)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto foo = [](graph<13> g, value x, optional_value, double, std::int64_t) { return g.op<"Neg">(x); };
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X, T? B, float alpha, int? n) -> (T Z)", "T: float", body<foo>>>{};
