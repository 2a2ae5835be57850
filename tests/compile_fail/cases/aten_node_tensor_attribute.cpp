// rule: aten_attribute_type
// error: aten::add.Tensor: argument other cannot be an attribute
// twin: x, attr_f<"other">(2.0)) => x, c)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.at<"add.Tensor">(x, attr_f<"other">(2.0));
}
