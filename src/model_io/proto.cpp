// SPDX-License-Identifier: MIT
// Reads files and parses protobuf, with readable error messages.
#include "proto.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ios>
#include <limits>
#include <system_error>

#include <aton/core/error.hpp>

#include "system/paths.hpp"

namespace ATON_NAMESPACE::detail {

std::string read_file(std::string const& path) {
    std::error_code failure;
    std::filesystem::path const file = system::path_of(path);
    auto const status = std::filesystem::status(file, failure);
    if (!std::filesystem::exists(status)) throw error(path + ": no such file");
    if (std::filesystem::is_directory(status)) throw error(path + ": is a folder, not a file");
    std::ifstream in(file, std::ios::binary);
    if (!in) throw error(path + ": cannot be read: " + std::strerror(errno));
    std::string bytes;
    if (auto const size = std::filesystem::file_size(file, failure); !failure) {
        if (size > static_cast<std::uintmax_t>(std::numeric_limits<int>::max()))
            throw error(path + ": larger than 2 GiB, which protobuf cannot read; store the weights in a separate file");
        bytes.reserve(static_cast<std::size_t>(size));
    }
    char buffer[1 << 16];
    while (in.read(buffer, sizeof buffer) || in.gcount() > 0) {
        bytes.append(buffer, static_cast<std::size_t>(in.gcount()));
        if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
            throw error(path + ": larger than 2 GiB");
    }
    if (in.bad()) throw error(path + ": cannot be read: " + std::strerror(errno));
    return bytes;
}

namespace {

// Silences protobuf's log on stderr; the caller gets an exception instead.
struct silent_protobuf {
    silent_protobuf() : previous(google::protobuf::SetLogHandler(nullptr)) {}
    ~silent_protobuf() { google::protobuf::SetLogHandler(previous); }
    silent_protobuf(silent_protobuf const&) = delete;
    silent_protobuf& operator=(silent_protobuf const&) = delete;
    google::protobuf::LogHandler* previous;
};

} // namespace

void parse_bytes(std::string_view bytes, std::string_view name, std::string_view what,
                 google::protobuf::MessageLite& to) {
    std::string const where(name);
    if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        throw error(where + ": larger than 2 GiB");
    silent_protobuf const quiet;
    if (!to.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
        throw error(where + ": not " + std::string(what) + ", or truncated (protobuf cannot parse it)");
}

::onnx::ModelProto parse_model_proto(std::string_view bytes, std::string_view name) {
    std::string const where(name);
    if (bytes.empty()) throw error(where + ": is empty");
    auto model = parse_message<::onnx::ModelProto>(bytes, name, "an ONNX model");
    if (!model.has_graph() || !model.has_ir_version())
        throw error(where + ": not an ONNX model (no " + (model.has_graph() ? "ir_version" : "graph") + ")");
    return model;
}

std::string one_line(std::string_view text) {
    std::string out;
    for (char c : text) {
        bool const blank = static_cast<unsigned char>(c) <= 0x20 || c == 0x7f;
        if (blank && (out.empty() || out.back() == ' ')) continue;
        out += blank ? ' ' : c;
    }
    while (!out.empty() && out.back() == ' ') out.pop_back();
    return out;
}

} // namespace ATON_NAMESPACE::detail
