// SPDX-License-Identifier: MIT
// Models with weights in a file: writes them, and finds the bytes of their initializers again.
#pragma once

#include <string>

#include <doctest/doctest.h>

#include <onnx/onnx_pb.h>

#include <aton/aton.hpp>
#include <aton/model_io/weights.hpp>

#include "stored_fixture.hpp"

namespace aton::tests {

inline ::onnx::ModelProto parsed(std::string const& path) {
    ::onnx::ModelProto model;
    REQUIRE(model.ParseFromString(slurp(path)));
    return model;
}

inline std::string entry(::onnx::TensorProto const& t, std::string const& key) {
    for (auto const& e : t.external_data())
        if (e.key() == key) return e.value();
    return "none";
}

/// The bytes of an initializer, wherever they are.
inline std::string bytes_of(::onnx::TensorProto const& t, temporary_folder const& folder) {
    if (t.data_location() != ::onnx::TensorProto_DataLocation_EXTERNAL) return t.raw_data();
    std::string const all = slurp(folder.file(entry(t, "location")));
    auto const offset = std::stoull(entry(t, "offset"));
    auto const length = std::stoull(entry(t, "length"));
    REQUIRE(offset + length <= all.size());
    return all.substr(offset, length);
}

struct weights_fixture : noise_fixture {
    using noise_fixture::noise_fixture;

    [[nodiscard]] weight_options options(weight_mode mode) const { return {mode, {source}, {}, {}}; }

    [[nodiscard]] std::string refusal(graph_data const& g, weight_mode mode, std::string const& to) const {
        try {
            (void)write_model(g, to, options(mode));
        } catch (error const& e) {
            CHECK(std::string(e.what()).find('\n') == std::string::npos);
            return e.what();
        }
        return "accepted";
    }
};

} // namespace aton::tests
