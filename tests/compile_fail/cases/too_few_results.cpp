// rule: result_count
// error: aten::sort: the schema returns 2 results, but the body returns 1
// twin: self; => std::tuple(self, self);
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"aten::sort(self)">([](graph<13> g, value self) {
        static_cast<void>(g);
        return self;
    }));
