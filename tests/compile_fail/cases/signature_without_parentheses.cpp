// rule: malformed_signature
// error: aten::relu: write the argument names in parentheses: aten::relu(self, ...)
// twin: aten::relu" => aten::relu(self)"
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"aten::relu">([](graph<13> g, value self) {
        static_cast<void>(g);
        return self;
    }));
