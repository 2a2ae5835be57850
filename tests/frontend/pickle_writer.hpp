// SPDX-License-Identifier: MIT
// Pieces of pickles, joined with +: what torch.save writes for a dict of tensors, and invalid pickles.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "zip_writer.hpp"

namespace aton::tests::pickled {

inline std::string const proto = {'\x80', '\2'};
inline std::string const stop = ".";
inline std::string const none = "N";
inline std::string const yes = "\x88";
inline std::string const no = "\x89";
inline std::string const reduce = "R";
inline std::string const empty_dict = "}";

inline std::string number(std::int64_t n) {
    std::string out = "\x8a\10";
    append_number(out, static_cast<std::uint64_t>(n), 8);
    return out;
}
inline std::string text(std::string_view t) {
    std::string out = "X";
    append_number(out, t.size(), 4);
    return out += t;
}
inline std::string global(std::string_view module, std::string_view name) {
    std::string out = "c";
    out.append(module).append("\n").append(name).append("\n");
    return out;
}
inline std::string tuple(std::initializer_list<std::string_view> items) {
    std::string out = "(";
    for (std::string_view const i : items) out += i;
    return out + "t";
}
inline std::string tuple(std::initializer_list<std::int64_t> items) {
    std::string out = "(";
    for (std::int64_t const i : items) out += number(i);
    return out + "t";
}
inline std::string call(std::string_view module, std::string_view name, std::string_view arguments) {
    return global(module, name) + std::string(arguments) + reduce;
}
inline std::string const hooks = call("collections", "OrderedDict", ")");

inline std::string storage(std::string_view type, std::string_view key, std::int64_t count,
                           std::string_view module = "torch") {
    return tuple({text("storage"), global(module, type), text(key), text("cpu"), number(count)}) + "Q";
}
inline std::string tensor(std::string_view storage, std::int64_t offset, std::initializer_list<std::int64_t> sizes,
                          std::initializer_list<std::int64_t> strides, std::string_view more = "") {
    return call("torch._utils",
                "_rebuild_tensor_v2",
                tuple({storage, number(offset), tuple(sizes), tuple(strides), no, hooks, more}));
}
/// A whole pickle of {name: what}.
inline std::string entry(std::string_view name, std::string_view what) {
    return proto + empty_dict + "(" + text(name) + std::string(what) + "u" + stop;
}

} // namespace aton::tests::pickled
