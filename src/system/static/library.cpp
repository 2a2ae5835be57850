// SPDX-License-Identifier: MIT
// A static executable has no loader: a library would bring a C library of its own.
#include "system/library.hpp"

namespace ATON_NAMESPACE::system {

void* load_library(std::string const& /*path*/, std::string& why) {
    why = "this program is a static executable, which loads no libraries; use a dynamically linked aton";
    return nullptr;
}

void close_library(void* /*library*/) noexcept {}

symbol find_symbol(void* /*library*/, char const* /*name*/) noexcept { return {}; }

bool is_loaded(void const* /*first*/, std::uint64_t /*size*/, access /*wanted*/) noexcept { return false; }

} // namespace ATON_NAMESPACE::system
