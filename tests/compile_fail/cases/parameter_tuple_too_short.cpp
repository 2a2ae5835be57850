// rule: parameter_type
// error: my::joined: argument pair is (Tensor, Tensor), but the parameter takes a tuple of tensors; write std::array<value, 2>
// twin: value, 3 => value, 2
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto rows = table(symbolic<"my::joined((Tensor, Tensor) pair) -> Tensor">([](graph<13>, std::array<value, 3> pair) { return pair[0]; }));
