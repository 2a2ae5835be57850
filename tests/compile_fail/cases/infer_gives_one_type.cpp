// rule: infer_count
// error: my_domain::Foo: the declaration has 2 outputs, but the infer<...> rule returns 1 type
// twin: (T Z, T W) => (T Z)
#include <aton/aton.hpp>
using namespace aton::dsl;

inline aton::value_type rule(inference const& in) { return in.input(0); }
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X) -> (T Z, T W)", "", infer<rule>>>{};
