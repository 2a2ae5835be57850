// SPDX-License-Identifier: MIT
#include "file_kind.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "frontend/files/text.hpp"

namespace ATON_NAMESPACE::pt2 {

namespace {

using namespace std::string_view_literals;

constexpr std::string_view executorch =
    "is an ExecuTorch program, which is compiled: export the model again with torch.export.save";
constexpr std::string_view checkpoint =
    "is a checkpoint of torch.save, which has weights but no graph: load it into its model and use torch.export.save";

/// A JSON header with its length in front.
bool is_safetensors(std::string_view bytes) {
    if (bytes.size() < 10 || bytes.substr(8, 2) != "{\"") return false;
    std::uint64_t length = 0;
    for (std::size_t i = 8; i-- > 0;) length = length << 8U | static_cast<unsigned char>(bytes[i]);
    return length <= bytes.size() - 8;
}

/// ModelProto in the usual field order: ir_version first, then the producer, the opsets or the graph.
bool is_onnx(std::string_view bytes) {
    return bytes.size() > 4 && bytes[0] == '\x08' && bytes[1] > 0 && bytes[1] < 64 &&
           "\x12\x1a\x22\x28\x32\x3a\x42"sv.find(bytes[2]) != std::string_view::npos;
}

bool is_executorch(std::string_view bytes) {
    return bytes.size() >= 8 && bytes.substr(4, 2) == "ET" && bytes[6] >= '0' && bytes[6] <= '9' && bytes[7] >= '0' &&
           bytes[7] <= '9';
}

/// For bytes that are not a ZIP archive.
std::string_view describe_other_file(std::string_view bytes) {
    if (is_executorch(bytes)) return executorch;
    if (bytes.starts_with("PK\3\4"))
        return "is a ZIP archive without an end record: the file is truncated or damaged; copy or save it again";
    if (bytes.size() > 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5)
        return "is a pickle of torch.save before torch 1.6, which has weights but no graph: load it into its model "
               "and use torch.export.save";
    if (is_safetensors(bytes))
        return "is a safetensors file, which has weights but no graph: load it into its model and use "
               "torch.export.save";
    if (is_onnx(bytes)) return "looks like an ONNX model, not like a .pt2 archive of torch.export.save";
    if (bytes.starts_with("version https://git-lfs"))
        return "is a Git LFS pointer, not the file itself: fetch it with git lfs pull";
    if (bytes.starts_with("GGUF")) return "is a GGUF file, not a .pt2 archive of torch.export.save";
    return "is not a .pt2 archive: export the model with torch.export.save";
}

} // namespace

files::zip_directory read_directory(std::string_view bytes, std::string const& path) {
    if (!files::looks_like_zip(bytes)) files::fail(path, describe_other_file(bytes));
    return {bytes, path};
}

std::string_view describe_other_archive(files::zip_directory const& directory, std::string_view root) {
    auto const has_folder = [&](std::string_view folder) {
        std::string const prefix = std::string(root) + std::string(folder);
        return std::any_of(directory.members().begin(), directory.members().end(), [&](files::zip_member const& m) {
            return m.name.starts_with(prefix);
        });
    };
    auto const has = [&](std::string_view name) {
        return directory.find(std::string(root) + std::string(name)) != nullptr;
    };
    if (has_folder("data/aotinductor/"))
        return "is an AOTInductor package, which is compiled: export the model again with torch.export.save";
    if (has_folder("data/executorch/")) return executorch;
    if (has("constants.pkl") || has_folder("code/"))
        return "is a TorchScript archive of torch.jit.save, not a .pt2 file: aton export reads it with --input, or "
               "save the model "
               "with torch.export.save";
    if (has("data.pkl")) return checkpoint;
    return "is a ZIP archive without models/*.json: export the model with torch.export.save";
}

} // namespace ATON_NAMESPACE::pt2
