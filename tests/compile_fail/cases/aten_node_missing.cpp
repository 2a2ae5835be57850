// rule: aten_missing
// error: aten::transpose.int: argument dim1 (int) is missing
// twin: (x, attr_i<"dim0">(0)) => (x, attr_i<"dim0">(0), attr_i<"dim1">(2))
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.at<"transpose.int">(x, attr_i<"dim0">(0));
}
