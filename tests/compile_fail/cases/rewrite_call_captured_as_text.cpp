// rule: pattern_call
// error: aten::elu: argument alpha is Scalar, given a string
// twin: using alpha_type = std::string => using alpha_type = double
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
using alpha_type = std::string;
inline constexpr auto table =
    rewrites(rewrite<"r">([](pattern<14> p, capture<value> x, capture<alpha_type> alpha) { return p.call<"aten::elu">(x, alpha); },
                          [](graph<14>, value x, alpha_type) { return x; }));
