// SPDX-License-Identifier: MIT
// Writes files of recorded calls for tests, as docs/verify.md describes them.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

namespace aton::tests {

/// A folder that is removed at the end.
class call_folder {
public:
    call_folder() {
        std::string name = (std::filesystem::temp_directory_path() / "aton_calls_XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
        path_ = name;
    }
    call_folder(call_folder const&) = delete;
    call_folder& operator=(call_folder const&) = delete;
    ~call_folder() { std::filesystem::remove_all(path_); }

    [[nodiscard]] std::string path() const { return path_.string(); }
    void write(std::string const& file, std::string_view bytes) const {
        std::ofstream(path_ / file, std::ios::binary) << bytes;
    }

private:
    std::filesystem::path path_;
};

inline std::string base64(std::string_view bytes) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        for (std::size_t k = 0; k != 3; ++k)
            group = group << 8U | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
        for (std::size_t k = 0; k != 4; ++k) out += i + k > bytes.size() ? '=' : digits[group >> (18 - 6 * k) & 63U];
    }
    return out;
}

template <class T>
std::string bytes_of(std::vector<T> const& values) {
    std::string out(values.size() * sizeof(T), '\0');
    if (!values.empty()) std::memcpy(out.data(), values.data(), out.size());
    return out;
}

inline std::string list_text(std::vector<std::int64_t> const& sizes) {
    std::string out = "[";
    for (std::int64_t const size : sizes) out += (out.size() == 1 ? "" : ", ") + std::to_string(size);
    return out + ']';
}

/// {"dtype": "torch.float32", "shape": [2], "base64": "..."}
inline std::string floats_text(std::vector<std::int64_t> const& sizes, std::vector<float> const& values) {
    return R"({"dtype": "torch.float32", "shape": )" + list_text(sizes) + R"(, "base64": ")" +
           base64(bytes_of(values)) + "\"}";
}

/// A safetensors file.
inline std::string safetensors(std::string const& header, std::string const& elements) {
    std::uint64_t const length = header.size();
    std::string out(sizeof length, '\0');
    std::memcpy(out.data(), &length, sizeof length);
    return out + header + elements;
}

} // namespace aton::tests
