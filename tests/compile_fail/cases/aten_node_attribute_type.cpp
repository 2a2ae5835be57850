// rule: aten_attribute_type
// error: aten::elu: argument alpha takes attr_f or attr_i
// twin: attr_s<"alpha">("2") => attr_f<"alpha">(2)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.at<"elu">(x, attr_s<"alpha">("2"));
}
