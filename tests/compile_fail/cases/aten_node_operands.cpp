// rule: aten_operands
// error: aten::relu: 2 operands given, more than it has tensor arguments
// twin: (x, c) => (x)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.at<"relu">(x, c);
}
