// rule: aten_outputs
// error: aten::max.dim: returns 2 results; ask for outputs<2>
// twin: , attr_i<"dim">(1)) => , attr_i<"dim">(1), outputs<2>)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.at<"max.dim">(x, attr_i<"dim">(1));
}
