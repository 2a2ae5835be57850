// rule: infer_signature
// error: my_domain::Foo: infer<...> takes a function that takes an inference const& and returns a value_type, or an array or vector of them
// twin: aton::shape rule(inference const& in) { return in.input(0).shape; } => aton::value_type rule(inference const& in) { return in.input(0); }
#include <aton/aton.hpp>
using namespace aton::dsl;

inline aton::shape rule(inference const& in) { return in.input(0).shape; }
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X) -> (T Z)", "", infer<rule>>>{};
