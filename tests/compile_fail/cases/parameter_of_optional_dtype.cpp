// rule: parameter_type
// error: aten::softmax.int: argument dtype is ScalarType?, but the parameter takes ScalarType; write std::optional<dtype>
// twin: aton::dtype type => std::optional<aton::dtype> type
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"aten::softmax.int(self, dim, dtype)">([](graph<13> g, value self, std::int64_t dim, aton::dtype type) {
        static_cast<void>(g);
        static_cast<void>(dim);
        static_cast<void>(type);
        return self;
    }));
