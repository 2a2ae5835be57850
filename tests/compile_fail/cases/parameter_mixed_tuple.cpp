// rule: parameter_type
// error: my::joined: argument pair is (Tensor, int), which no C++ parameter type can hold; declare one argument for each of its parts instead
// twin: (Tensor, int) => (Tensor, Tensor)
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto rows = table(symbolic<"my::joined((Tensor, int) pair) -> Tensor">([](graph<13>, std::array<value, 2> pair) { return pair[0]; }));
