// rule: aten_twice
// error: aten::elu: argument alpha is given twice
// twin: (2.0), attr_f<"alpha">(3.0) => (2.0), attr_f<"scale">(3.0)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.at<"elu">(x, attr_f<"alpha">(2.0), attr_f<"alpha">(3.0));
}
