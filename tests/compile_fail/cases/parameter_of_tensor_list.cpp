// rule: parameter_type
// error: aten::cat: argument tensors is Tensor[], but the parameter takes Tensor; write std::span<value const>
// twin: value tensors => std::span<value const> tensors
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"aten::cat(tensors, dim)">([](graph<13> g, value tensors, std::int64_t dim) {
        static_cast<void>(g);
        return g.op<"Concat">(tensors, attr::axis_i(dim));
    }));
