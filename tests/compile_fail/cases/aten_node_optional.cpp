// rule: aten_optional
// error: aten::softmax.int: argument dim (int) is a std::optional, which may be empty; give the value
// twin: (n) => (n.value_or(0))
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] std::optional<std::int64_t> n) {
    (void)g.at<"softmax.int">(x, attr_i<"dim">(n));
}
