// SPDX-License-Identifier: MIT
#include "referenced_files.hpp"

#include <filesystem>
#include <system_error>

#include "output_file.hpp"
#include "stored_reader.hpp"
#include "system/paths.hpp"

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::detail {

namespace {

namespace fs = std::filesystem;

fs::path folder_of(std::string const& path) {
    fs::path const parent = system::path_of(path).parent_path();
    std::error_code failure;
    auto out = fs::canonical(parent.empty() ? "." : parent, failure);
    if (failure) throw error(path + ": cannot be written: " + failure.message());
    return out;
}

} // namespace

std::optional<file_identity> identity_of(std::string const& path) {
    system::file_facts facts;
    if (!system::examine(path, facts)) return {};
    return facts.identity;
}

std::optional<file_identity> const& open_files::identity(int file) {
    auto const [found, is_new] = known_.try_emplace(file);
    system::file_facts facts;
    if (is_new && file >= 0 && system::examine(file, facts)) found->second.emplace(facts.identity);
    return found->second;
}

void open_files::require_other(graph_data const& graph, std::string const& path) {
    auto const target = identity_of(path);
    if (!target) return;
    for (graph_initializer const& i : graph.initializers)
        if (i.stored != nullptr)
            for (stored_part const& part :
                 i.stored->computed != nullptr ? i.stored->computed->source().parts : i.stored->parts)
                if (identity(part.bytes.file) == target)
                    throw error(path + ": is the file with the weights; write to another file");
}

void require_plain_name(std::string const& path) {
    if (system::text_of(system::part_of(path).filename()).find("..") != std::string::npos)
        throw error(path + ": ONNX's checker refuses weights in a file with '..' in its name; choose another name");
}

referenced_files::referenced_files(std::string const& path, weight_options const& options, open_files& files)
    : files_(files) {
    if (options.sources.empty()) throw error(path + ": weight_options::sources must name the files with the weights");
    for (std::string const& source : options.sources) add(path, source);
    for (std::string const& source : options.optional_sources) {
        try {
            add(path, source);
        } catch (error const&) {
            continue; // its weights are copied
        }
    }
}

void referenced_files::add(std::string const& path, std::string const& source) {
    std::error_code failure;
    fs::path const file = system::path_of(source);
    auto const status = fs::symlink_status(file, failure);
    if (!fs::exists(status)) throw error(source + ": no such file");
    auto const refuse = [&](char const* why) {
        throw error(source + why + ", and ONNX's checker refuses weights in such a file; use --weights external");
    };
    if (fs::is_symlink(status)) refuse(": is a symbolic link");
    if (!fs::is_regular_file(status)) refuse(": is not a regular file");
    if (fs::hard_link_count(file, failure) > 1 && !failure) refuse(": has several hard links");
    require_plain_name(source);
    fs::path const inside = folder_of(source).lexically_relative(folder_of(path));
    if (inside.empty() || system::text_of(inside).find("..") != std::string::npos)
        throw error(path + ": must be in the folder of " + source +
                    ", to which it refers; write it there, or use --weights embed or external");
    auto const id = identity_of(source);
    if (!id) throw error(source + ": cannot be examined");
    std::string name = system::text_of(file.filename());
    if (inside != ".") name = system::text_of(inside / file.filename());
    locations_.insert_or_assign(*id, &names_.emplace_back(std::move(name)));
}

std::string const* referenced_files::known(stored_tensor const& t) const {
    auto const& id = files_.identity(t.parts[0].bytes.file);
    auto const found = id ? locations_.find(*id) : locations_.end();
    return found == locations_.end() ? nullptr : found->second;
}

bool referenced_files::is_worth_it(stored_tensor const& t) {
    // Small tensors may be shapes, which inference inspects; small float tensors are not worth a page.
    constexpr std::uint64_t cache_line = 64;
    constexpr std::uint64_t small_weight = 1024;
    return stored_bytes(t) >= (is_floating(t.type) ? cache_line : small_weight);
}

std::string referenced_files::why_not(stored_tensor const& t) const {
    if (t.computed != nullptr) return "is computed from a weight";
    if (t.parts.size() != 1) return "is made of " + std::to_string(t.parts.size()) + " parts";
    stored_part const& part = t.parts[0];
    if (part.stored_as != dtype::undefined)
        return "is " + std::string(name(part.stored_as)) + " in its file, but " + std::string(name(t.type)) +
               " in the model";
    if (!part.factors.empty()) return "is multiplied by numbers";
    if (known(t) == nullptr) return "is in no file to which the model can refer";
    std::uint64_t const item = bits(t.type) / 8;
    std::uint64_t const unit = item < 8 ? item : 8;
    std::uint64_t const start = part.bytes.position + static_cast<std::uint64_t>(part.offset) * item;
    if (start % unit != 0)
        return "starts at byte " + std::to_string(start) + " of its file, which is not a multiple of " +
               std::to_string(unit);
    return {};
}

std::string_view referenced_files::location(stored_tensor const& t) const { return *known(t); }

} // namespace ATON_NAMESPACE::detail
