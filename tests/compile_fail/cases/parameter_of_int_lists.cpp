// rule: parameter_type
// error: my::grouped: argument groups is int[][], but the parameter takes int[] or a constant SymInt[]; write std::vector<std::vector<std::int64_t>>
// twin: std::span<std::int64_t const> => std::vector<std::vector<std::int64_t>>
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto rows =
    table(symbolic<"my::grouped(Tensor x, int[][] groups) -> Tensor">([](graph<13>, value x, std::span<std::int64_t const>) { return x; }));
