// SPDX-License-Identifier: MIT
// The samples of tests/data/pt2, and checks that every archive must pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <aton/core/error.hpp>
#include <aton/core/stored_tensor.hpp>
#include <aton/frontend/pt2/archive.hpp>

#include "../changed_bytes.hpp"
#include "small_archive.hpp"

namespace aton::tests {

inline std::string sample_path(std::string const& name) { return ATON_PT2_SAMPLES "/" + name; }

inline std::string read_file(std::string const& path) {
    std::ifstream in(path, std::ios::binary);
    REQUIRE_MESSAGE(in.good(), path);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// The elements in row-major order, read one by one from their positions.
inline std::string dense_bytes(stored_tensor const& t) {
    REQUIRE(t.parts.size() == 1);
    stored_part const& part = t.parts[0];
    REQUIRE(part.sizes == t.sizes);
    REQUIRE(part.strides.size() == part.sizes.size());
    std::size_t const width = bits(t.type) / 8;
    std::string out;
    std::vector<std::int64_t> index(t.sizes.size(), 0);
    for (std::int64_t n = t.element_count(); n > 0; --n) {
        std::int64_t at = part.offset;
        for (std::size_t i = 0; i != index.size(); ++i) at += index[i] * part.strides[i];
        std::size_t const byte = static_cast<std::size_t>(at) * width;
        REQUIRE(byte + width <= part.bytes.size);
        out.append(reinterpret_cast<char const*>(part.bytes.data) + byte, width);
        for (std::size_t i = index.size(); i-- > 0;) {
            if (++index[i] < t.sizes[i]) break;
            index[i] = 0;
        }
    }
    return out;
}

/// Checks that a message is one short line that names the file.
inline void check_message(std::string_view what) {
    CHECK(what.starts_with("hostile.pt2: "));
    CHECK(what.size() > 20);
    CHECK(what.size() < 700);
    CHECK(std::all_of(what.begin(), what.end(), [](char c) { return c >= ' ' && c < 127; }));
}

/// Opens an archive and reads everything in it. True if it could be opened. Exceptions other than aton::error fail the test.
inline bool survives(std::string_view bytes) {
    constexpr std::int64_t most = 100'000;
    try {
        pt2::archive const a = pt2::archive::from_memory(bytes, "hostile.pt2");
        for (std::string const& model : a.models())
            for (pt2::tensor_role const role : {pt2::tensor_role::weight, pt2::tensor_role::constant}) try {
                    (void)a.program_json(model);
                    for (std::string const& name : a.tensor_names(model, role)) try {
                            stored_tensor const t = a.tensor(model, role, name);
                            REQUIRE(t.element_count() >= 0);
                            if (t.element_count() < most) (void)dense_bytes(t);
                            file_span const& span = t.parts[0].bytes;
                            REQUIRE(span.position + span.size <= bytes.size());
                            REQUIRE(reinterpret_cast<char const*>(span.data) == bytes.data() + span.position);
                        } catch (error const& e) {
                            check_message(e.what());
                        }
                } catch (error const& e) {
                    check_message(e.what());
                }
        return true;
    } catch (error const& e) {
        check_message(e.what());
    }
    return false;
}

/// The error message for bytes that cannot be opened; empty if they can.
inline std::string error_message(std::string_view bytes) {
    try {
        (void)pt2::archive::from_memory(bytes, "hostile.pt2");
    } catch (error const& e) {
        check_message(e.what());
        return e.what();
    }
    return {};
}

} // namespace aton::tests
