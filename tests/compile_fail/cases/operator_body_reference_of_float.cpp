// rule: by_reference
// error: by_reference<T> takes double, std::int64_t, std::string_view, tensor, or a std::span of const float, std::int64_t or std::string
// twin: by_reference<float> => by_reference<double>
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto foo = [](graph<13>, value x, by_reference<float>) { return x; };
