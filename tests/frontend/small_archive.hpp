// SPDX-License-Identifier: MIT
// A small archive in the format of torch.export.save, with one weight or config that a test chooses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "zip_writer.hpp"

namespace aton::tests {

/// The entry of one weight in a config; `meta` is its TensorMeta.
inline std::string config_entry(std::string_view name, std::string_view path, std::string_view meta) {
    std::string out = "\"";
    out += name;
    out += R"(": {"path_name": ")";
    out += path;
    out += R"(", "is_param": true, "use_pickle": false, "tensor_meta": )";
    out += meta;
    return out + "}";
}

/// TensorMeta JSON: 4 = int32, layout 7 = strided.
inline std::string tensor_meta(std::string_view sizes, std::string_view strides, std::string_view offset = "0",
                               int dtype = 4, int layout = 7) {
    auto const list = [](std::string_view numbers) {
        std::string out = "[";
        for (std::size_t at = 0; at < numbers.size();) {
            std::size_t const comma = std::min(numbers.find(',', at), numbers.size());
            out += (out.size() == 1 ? "{\"as_int\": " : ", {\"as_int\": ") +
                   std::string(numbers.substr(at, comma - at)) + "}";
            at = comma + 1;
        }
        return out + "]";
    };
    return R"({"dtype": )" + std::to_string(dtype) + R"(, "sizes": )" + list(sizes) +
           R"(, "requires_grad": false, "device": {"type": "cpu", "index": null}, "strides": )" + list(strides) +
           R"(, "storage_offset": {"as_int": )" + std::string(offset) + R"(}, "layout": )" + std::to_string(layout) +
           "}";
}

/// Adds the members that complete an archive of torch.export.save.
inline void add_frame(zip_writer& to) {
    to.add("m/models/model.json", "{}").add("m/archive_format", "pt2").add("m/archive_version", "0");
    to.add("m/byteorder", "little").add("m/.data/serialization_id", std::string(40, '7'));
}

/// Six int32 in one record, with the given config.
inline std::string archive_with_config(std::string_view config) {
    zip_writer out;
    std::string numbers;
    for (std::uint64_t i = 0; i != 6; ++i) append_number(numbers, 100 + i, 4);
    out.add("m/data/weights/weight_0", numbers).add("m/data/weights/weight_1", "");
    out.add("m/data/weights/model_weights_config.json", config);
    out.add("m/data/constants/model_constants_config.json", R"({"config": {}})");
    add_frame(out);
    return out.finish();
}

inline std::string archive_with_weight(std::string_view meta) {
    return archive_with_config(R"({"config": {)" + config_entry("w", "weight_0", meta) + "}}");
}

} // namespace aton::tests
