// SPDX-License-Identifier: MIT
// Which sizes, elements, layouts and defaults each dtype is drawn with.
#include "sampling_profiles.hpp"

#include <cstddef>

#include "random_source.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

/// Themes with tensors of several dtypes, the first of which is `t`. Half types are omitted: their promotion also affects rounding.
void add_mixed(std::vector<sampling_profile>& to, dtype t) {
    if (t != dtype::float32 && t != dtype::int64 && t != dtype::int32 && t != dtype::bool_) return;
    to.push_back({size_profile::distinct, value_profile::ordinary, t, false, false, true});
    to.push_back({size_profile::ones, value_profile::ties, t, false, true, true});
}

} // namespace

std::vector<sampling_profile> profiles_of(dtype t) {
    std::vector<sampling_profile> out;
    auto const add = [&](size_profile sizes, value_profile values, bool scattered, bool defaults) {
        out.push_back({sizes, values, t, scattered, defaults});
    };
    if (t != dtype::float32 && t != dtype::int64) {
        add(size_profile::distinct, value_profile::ordinary, false, false);
        add(size_profile::ones, value_profile::special, true, false);
        add(size_profile::scalar, value_profile::ties, false, true);
        add_mixed(out, t);
        return out;
    }
    for (std::size_t s = 0; s != static_cast<std::size_t>(size_profile::count_); ++s)
        for (std::size_t v = 0; v != static_cast<std::size_t>(value_profile::wide); ++v)
            add(static_cast<size_profile>(s), static_cast<value_profile>(v), (s + v) % 2 == 1, false);
    add(size_profile::distinct, value_profile::ordinary, false, true);
    add(size_profile::distinct, value_profile::ordinary, true, false);
    if (t == dtype::float32 || t == dtype::int64) add(size_profile::distinct, value_profile::wide, false, false);
    add_mixed(out, t);
    return out;
}

std::vector<sampling_profile> extreme_profiles(std::string_view schema) {
    std::vector<sampling_profile> out;
    bool real = false;
    aten::schema_argument each;
    for (aten::argument_cursor all{schema}; all.next(each);) real = real || is_real(each);
    if (!real) return out;
    for (dtype const t : {dtype::float32, dtype::float64, dtype::float16, dtype::int64})
        for (int i = 0; i != extreme_reals; ++i)
            out.push_back({size_profile::distinct, value_profile::special, t, false, false, false, i});
    return out;
}

std::string_view name_of(size_profile t) {
    constexpr std::string_view all[] = {"distinct", "ones", "equal", "empty", "scalar"};
    return all[static_cast<std::size_t>(t)];
}
std::string_view name_of(value_profile t) {
    constexpr std::string_view all[] = {"ordinary", "ties", "special", "wide"};
    return all[static_cast<std::size_t>(t)];
}

} // namespace ATON_NAMESPACE::verify
