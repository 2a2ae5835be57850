// rule: operator_body
// error: my_domain::Foo: the declaration has 1 output, but the body returns 2
// twin: std::pair<value, value>(x, x) => x
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto foo = [](graph<13>, value x, optional_value, double, std::optional<std::int64_t>) { return std::pair<value, value>(x, x); };
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X, T? B, float alpha, int? n) -> (T Z)", "T: float", body<foo>>>{};
