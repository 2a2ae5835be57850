// rule: parameter_type
// error: aten::permute: argument dims is int[], but the parameter takes int or a constant SymInt; write std::span<std::int64_t const>
// twin: std::int64_t dims => std::span<std::int64_t const> dims
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"aten::permute(self, dims)">([](graph<13> g, value self, std::int64_t dims) {
        static_cast<void>(g);
        static_cast<void>(dims);
        return g.op<"Transpose">(self, attr::perm_i({1, 0}));
    }));
