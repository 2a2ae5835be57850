// rule: infer_count
// error: my_domain::Foo: the declaration has 1 output, but the infer<...> rule returns 2 types
// twin: (T Z) => (T Z, T W)
#include <array>

#include <aton/aton.hpp>
using namespace aton::dsl;

inline std::array<aton::value_type, 2> rule(inference const& in) { return {in.input(0), in.input(0)}; }
inline constexpr auto my_domain = domain<"my_domain", 1, op<"Foo(T X) -> (T Z)", "", infer<rule>>>{};
