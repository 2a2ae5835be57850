// rule: result_type
// error: aten::relu: the body must return a value, a tuple of values or a vector of values
// twin: 1.5; => self;
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"aten::relu(self)">([](graph<13> g, value self) {
        static_cast<void>(g);
        static_cast<void>(self);
        return 1.5;
    }));
