// rule: parameter_type
// error: my::nested: argument all is Tensor[][], which no C++ parameter type can hold; declare one list for each of its lists or parts instead
// twin: Tensor[][] all => Tensor[] all
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto rows =
    table(symbolic<"my::nested(Tensor x, Tensor[][] all) -> Tensor">([](graph<13>, value x, std::span<value const>) { return x; }));
