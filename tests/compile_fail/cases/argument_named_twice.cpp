// rule: argument_named_twice
// error: aten::elu: argument alpha is named twice
// twin: alpha, alpha => alpha, scale
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"aten::elu(self, alpha, alpha)">([](graph<13> g, value self, double, double) {
        static_cast<void>(g);
        return self;
    }));
