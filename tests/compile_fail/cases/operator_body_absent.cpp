// rule: operator_body
// error: my_domain::Foo: output Z may be absent in the body, but not in the declaration; write T? Z, or return a value
// twin: T Z) => T? Z)
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto foo = [](graph<13> g, value x) { return std::tuple(g.op<"Neg">(x), absent); };
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X) -> (T Y, T Z)", "", body<foo>>>{};
