// rule: aten_outputs
// error: aten::unbind.int: returns a list; ask for it with output_list(n)
// twin: (x) => (x, output_list(3))
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.at<"unbind.int">(x);
}
