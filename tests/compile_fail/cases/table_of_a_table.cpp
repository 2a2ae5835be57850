// rule: table
// error: table(...) takes rows made by symbolic
// twin: table(rows) => rows + rows
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table();
inline constexpr auto more = table(rows);
