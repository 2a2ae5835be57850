// rule: parameter_type
// error: aten::gelu: argument approximate is str; write std::string_view
// twin: char const* approximate => std::string_view approximate
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"aten::gelu(self, approximate)">([](graph<13> g, value self, char const* approximate) {
        static_cast<void>(g);
        static_cast<void>(approximate);
        return self;
    }));
