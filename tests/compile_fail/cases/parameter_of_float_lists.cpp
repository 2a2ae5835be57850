// rule: parameter_type
// error: my::weighted: argument weights is float[][]?, but the parameter takes int[][]; write std::optional<std::vector<std::vector<double>>>
// twin: std::vector<std::vector<std::int64_t>> => std::optional<std::vector<std::vector<double>>>
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto rows = table(symbolic<"my::weighted(Tensor x, float[][]? weights) -> Tensor">(
    [](graph<13>, value x, std::vector<std::vector<std::int64_t>>) { return x; }));
