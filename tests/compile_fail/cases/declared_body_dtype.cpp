// rule: operator_body
// error: my_domain::Foo: output Z is int64 in the body, but float32 in the declaration
// twin: "Shape" => "Relu"
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto foo = [](graph<14> g, value x) { return g.op<"Shape">(x); };
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X) -> (T Z)", "T: float", body<foo>>>{};
