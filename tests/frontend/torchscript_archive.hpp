// SPDX-License-Identifier: MIT
// A small TorchScript archive.
#pragma once

#include <string>
#include <string_view>

#include "zip_writer.hpp"

namespace aton::tests {

/// The pickle of a float32 tensor of 3 elements, without its header and end; all have the same storage.
inline std::string const& tensor_pickle() {
    using namespace std::string_literals;
    static std::string const text =
        "ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0"
        "0X\3\0\0\0cpuK\3tQK\0K\3\x85K\1\x85\x89"
        "ccollections\nOrderedDict\n)RtR"s;
    return text;
}

/// The pickle of a module __torch__.M with a parameter `w`, a buffer `b` and the attribute `n` = 7; `more`: the pickle of other attributes.
inline std::string module_pickle(std::string_view more = {}) {
    using namespace std::string_literals;
    return "\x80\x02"
           "c__torch__\nM\n)\x81}(X\1\0\0\0w"s +
           tensor_pickle() + "X\1\0\0\0b"s + tensor_pickle() + "X\1\0\0\0nK\7"s + std::string(more) + "ub."s;
}

/// The members of an archive: its code, its data.pkl, and the bytes of the storage.
inline zip_writer torchscript_archive(std::string_view code, std::string_view data) {
    using namespace std::string_literals;
    zip_writer out;
    out.add("m/data.pkl", data).add("m/data/0", std::string(12, '\0')).add("m/code/__torch__.py", code);
    out.add("m/constants.pkl", "\x80\x02"s + tensor_pickle() + "\x85."s).add("m/constants/0", std::string(12, '\0'));
    return out;
}

} // namespace aton::tests
