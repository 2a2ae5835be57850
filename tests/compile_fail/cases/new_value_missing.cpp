// rule: new_values
// error: my::bump_: the body returns 0 values, not 1: the new value of x, which the operator writes to
// twin: static_cast<void>(now); => return now;
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"my::bump_(Tensor(a!) x, float by) -> ()">([](graph<13> g, value x, double by) {
        value const now = g.op<"Add">(x, by);
        static_cast<void>(now);
    }));
