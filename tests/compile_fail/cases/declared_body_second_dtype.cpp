// rule: operator_body
// error: my_domain::Foo: output I is bool in the body, but int64 in the declaration
// twin: "IsNaN" => "Size"
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto foo = [](graph<14> g, value x) { return std::pair(x, g.op<"IsNaN">(x)); };
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X) -> (T Z, tensor(int64) I)", "T: float", body<foo>>>{};
