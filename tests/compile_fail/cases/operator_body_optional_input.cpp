// rule: operator_body
// error: my_domain::Foo: input B does not match its parameter of the body; write optional_value
// twin: value b => optional_value b
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto foo = [](graph<13> g, value x, [[maybe_unused]] value b, double, std::optional<std::int64_t>) { return g.op<"Neg">(x); };
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X, T? B, float alpha, int? n) -> (T Z)", "T: float", body<foo>>>{};
