// rule: aten_operator
// error: aten::mull: no such ATen operator; did you mean aten::mul
// twin: "mull" => "mul"
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.at<"mull">(x, c);
}
