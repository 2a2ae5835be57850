// rule: rows
// error: rewrites(...) takes rows made by rewrite<"...">(pattern, replacement)
// twin: rewrites(7) => rewrites()
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto make = [] { return rewrites(7); };
