// rule: aten_missing
// error: aten::mm: argument mat2 (Tensor) is missing
// twin: (x) => (x, c)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.at<"mm">(x);
}
