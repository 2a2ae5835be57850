// rule: call_aten
// error: aten::elu: argument alpha is given twice
// twin: arg<"alpha">(3) => arg<"scale">(1)
#include <aton/aton.hpp>
#include <aton/dsl/call_aten.hpp>
using namespace aton::dsl;

inline constexpr auto rows = table(
    symbolic<"aten::gelu(self, approximate)">([](graph<20> g, value x, std::string_view) { return g.op<"Gelu">(x); }),
    symbolic<"aten::elu(self, alpha)">([](graph<13> g, value x, double) { return g.op<"Elu">(x); }),
    symbolic<"aten::cat(tensors, dim)">([](graph<13> g, std::span<value const> all, std::int64_t dim) {
        return g.op<"Concat">(all, attr::axis_i(dim));
    }));
inline value build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y) {
    return call_aten<"aten::elu">(rows, g, x, 2, arg<"alpha">(3));
}
