// SPDX-License-Identifier: MIT
#include "weight_files.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <map>
#include <system_error>

#include "frontend/files/text.hpp"
#include "frontend/files/zip_directory.hpp"
#include "frontend/pt2/json_reader.hpp"
#include "safetensors.hpp"
#include "system/paths.hpp"

namespace ATON_NAMESPACE::weights {

namespace {

namespace fs = std::filesystem;
using pt2::json_value;

constexpr std::size_t max_index_bytes = std::size_t{1} << 24U;
constexpr std::size_t max_shards = 4096;

/// Names by which a folder's weights are found, in this order.
constexpr std::array<std::string_view, 4> usual_names = {
    "model.safetensors.index.json", "model.safetensors", "pytorch_model.bin.index.json", "pytorch_model.bin"};
/// Of the only file with weights in a folder.
constexpr std::array<std::string_view, 6> endings = {
    ".safetensors.index.json", ".safetensors", ".bin.index.json", ".bin", ".pt", ".pth"};

/// The file with the weights of a folder, or its index.
std::string find_in_folder(std::string const& folder) {
    std::error_code failure;
    fs::path const place = system::path_of(folder);
    for (std::string_view const name : usual_names)
        if (fs::exists(system::path_in(place, name), failure)) return system::text_of(place / name);
    std::vector<std::string> names;
    for (auto at = fs::directory_iterator(place, failure); !failure && at != fs::directory_iterator();
         at.increment(failure))
        names.push_back(system::text_of(at->path().filename()));
    if (failure) files::fail(folder, "cannot be listed: " + failure.message());
    std::sort(names.begin(), names.end());
    for (std::string_view const ending : endings) {
        std::vector<std::string> found;
        for (std::string const& name : names)
            if (name.ends_with(ending)) found.push_back(name);
        if (found.size() == 1) return system::text_of(place / system::part_of(found[0]));
        if (found.size() > 1)
            files::fail(folder,
                        "has " + std::to_string(found.size()) + " files " +
                            files::in_quotes('*' + std::string(ending)) +
                            " and no model.safetensors.index.json; name one of them: " + files::in_quotes(found[0]) +
                            ", " + files::in_quotes(found[1]) + (found.size() > 2 ? ", ..." : ""));
    }
    files::fail(folder, "has no weights: neither *.safetensors nor *.bin, *.pt or *.pth");
}

/// The tensors of a mapped file, by its first bytes.
std::unique_ptr<pt2::tensor_source> read_tensors(pt2::file_bytes from, std::string const& path) {
    std::string_view const bytes = from.all;
    if (bytes.starts_with("version https://git-lfs"))
        files::fail(path, "is a Git LFS pointer, not the file itself: fetch it with git lfs pull");
    if (bytes.starts_with("GGUF")) files::fail(path, "is a GGUF file: give the safetensors files of the model");
    if (looks_like_safetensors(bytes)) return read_safetensors(from, path);
    if (files::looks_like_zip(bytes)) {
        files::zip_directory const directory(bytes, path);
        std::string const root(directory.root());
        if (directory.find(root + "archive_format") != nullptr)
            files::fail(path, "is a program of torch.export.save, not a file with weights");
        if (directory.find(root + "constants.pkl") != nullptr)
            files::fail(path, "is a TorchScript archive, not a file with weights: save model.state_dict()");
        return pt2::read_saved_dict(bytes, path, from);
    }
    if (bytes.size() > 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5)
        files::fail(path, "is a pickle of torch.save before torch 1.6: load it and save it again, as safetensors");
    return read_safetensors(from, path); // says what is wrong
}

bool is_index(std::string const& path) { return path.ends_with(".json"); }

std::string folder_of(std::string const& path) {
    fs::path const parent = system::path_of(path).parent_path();
    return parent.empty() ? "." : system::text_of(parent);
}

} // namespace

weight_files::weight_files(std::string const& given) {
    std::error_code ignored;
    std::string const path = fs::is_directory(system::path_of(given), ignored) ? find_in_folder(given) : given;
    folder_ = folder_of(path);
    if (is_index(path)) {
        open_index(path);
    } else {
        open_file const& only = open(path);
        for (std::string_view const name : only.tensors->names()) by_name_.emplace_back(name, &only);
    }
    std::sort(by_name_.begin(), by_name_.end());
}

void weight_files::open_index(std::string const& path) {
    files::mapped_file const index(path);
    if (index.bytes().size() > max_index_bytes) files::fail(path, "is longer than 16 MiB: not an index of weights");
    pt2::json_document const document(index.bytes(), path, "; it is damaged, or not the index of a model's weights");
    json_value const root = document.root();
    json_value const map = root.member("weight_map");
    std::map<std::string, open_file const*, std::less<>> shards;
    map.for_each_member([&](json_value const& each) {
        std::string const name(each.name());
        fs::path const file = system::part_of(name);
        if (file.has_root_path() || file != file.filename() || name == "." || name == "..")
            each.fail("names " + files::in_quotes(name) + ", but a shard must be in the folder of its index");
        auto const [shard, is_new] = shards.try_emplace(name, nullptr);
        if (is_new && shards.size() > max_shards) map.fail("names more than 4096 files");
        if (is_new) shard->second = &open(system::text_of(system::path_of(folder_) / file));
        by_name_.emplace_back(each.key(), shard->second);
    });
    std::sort(by_name_.begin(), by_name_.end());
    for (std::size_t i = 1; i < by_name_.size(); ++i)
        if (by_name_[i - 1].first == by_name_[i].first)
            map.fail("has a duplicate tensor " + files::in_quotes(by_name_[i].first));
    for (auto const& [name, file] : shards) {
        std::vector<std::string_view> const there = file->tensors->names();
        for (auto const& [tensor, owner] : by_name_)
            if (owner == file && !std::binary_search(there.begin(), there.end(), std::string_view(tensor)))
                map.fail("says that tensor " + files::in_quotes(tensor) + " is in " + files::in_quotes(name) +
                         ", but it is not");
    }
}

weight_files::open_file const& weight_files::open(std::string const& path) {
    auto made = std::make_unique<open_file>();
    made->path = path;
    made->map = std::make_unique<files::mapped_file>(path);
    made->tensors = read_tensors({made->map->bytes(), made->map->descriptor()}, path);
    return *files_.emplace_back(std::move(made));
}

weight_files::open_file const* weight_files::file_of(std::string_view name) const {
    auto const found = std::lower_bound(
        by_name_.begin(), by_name_.end(), name, [](auto const& e, std::string_view n) { return e.first < n; });
    return found == by_name_.end() || found->first != name ? nullptr : found->second;
}

std::vector<std::string_view> weight_files::names() const {
    std::vector<std::string_view> out;
    out.reserve(by_name_.size());
    for (auto const& e : by_name_) out.emplace_back(e.first);
    return out;
}

std::optional<stored_tensor> weight_files::find(std::string_view name) const {
    open_file const* const file = file_of(name);
    return file == nullptr ? std::nullopt : file->tensors->find(name);
}

std::vector<std::string> weight_files::paths() const {
    std::vector<std::string> out;
    for (auto const& file : files_) out.push_back(file->path);
    return out;
}

} // namespace ATON_NAMESPACE::weights
