// rule: body
// error: grid_i
// twin: attr::grid_i => attr_i<"grid">
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto custom = domain<"my", 1, op<"Sample(T X, int grid) -> (T Y)", "T: float">>{};

inline constexpr auto rows = table(symbolic<"my::sample(Tensor x, int grid) -> Tensor">(
    [](graph<13, custom> g, value x, std::int64_t grid) { return g.op<"my::Sample">(x, attr::grid_i(grid)); }));
