// rule: parameter_type
// error: aten::sum.dim_IntList: argument dim is int[1]?, but the parameter takes int[] or a constant SymInt[]; write std::optional<std::span<std::int64_t const>>
// twin: std::span<std::int64_t const> dim => std::optional<std::span<std::int64_t const>> dim
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"aten::sum.dim_IntList(self, dim)">([](graph<13> g, value self, std::span<std::int64_t const> dim) {
        static_cast<void>(g);
        static_cast<void>(dim);
        return self;
    }));
