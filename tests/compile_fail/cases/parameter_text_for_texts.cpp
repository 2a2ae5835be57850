// rule: parameter_type
// error: my::named: argument names is str[], but the parameter takes str; write std::span<std::string const>
// twin: std::string_view => std::span<std::string const>
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto rows = table(symbolic<"my::named(Tensor x, str[] names) -> Tensor">([](graph<13>, value x, std::string_view) { return x; }));
