// rule: parameter_type
// error: my_ops::f: argument s is string, which is not a type of a schema; did you mean str?
// twin: string s => str s
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto rows = table(
    symbolic<"my_ops::f(Tensor x, string s) -> Tensor">([](graph<13> g, value x, [[maybe_unused]] std::string_view) { return g.op<"Neg">(x); }));
