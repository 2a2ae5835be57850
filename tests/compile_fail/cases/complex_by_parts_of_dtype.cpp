// rule: parts
// error: aten::zeros: by_parts names dtype, but it is ScalarType?, which has no imaginary part
// twin: by_parts<"dtype"> => by_parts<>
#include <optional>

#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto row = symbolic<"aten::zeros(size, dtype)">([](graph<13> g, std::span<size const> sizes, std::optional<aton::dtype>) {
    return g.op<"ConstantOfShape">(g.ints(sizes));
}).by_parts<"dtype">();
