// SPDX-License-Identifier: MIT
#include "model_files.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

#include <aton/core/error.hpp>
#include <aton/frontend/torchscript/read_program.hpp>

#include "commands.hpp"
#include "system/paths.hpp"

namespace aton::tool {

namespace {

namespace fs = std::filesystem;

bool is_folder(std::string const& path) {
    std::error_code ignored;
    return fs::is_directory(system::path_of(path), ignored);
}

/// Adds the files of a folder and its subfolders, unsorted. `relative`: the path of the folder in the one that was named.
void search(fs::path const& folder, fs::path const& relative, std::function<bool(std::string const&)> const& wanted,
            std::vector<model_file>& to) {
    std::error_code fault;
    for (fs::directory_iterator at(folder, fault), end; !fault && at != end; at.increment(fault)) {
        fs::path const name = at->path().filename();
        std::error_code ignored;
        if (fs::is_directory(at->symlink_status(ignored)))
            search(system::path_in(folder, name), relative / name, wanted, to);
        else if (std::string path = system::text_of(at->path()); !at->is_directory(ignored) && wanted(path))
            to.push_back({std::move(path), system::text_of(relative / name)});
    }
    if (!fault) return;
    std::string const place = system::text_of(folder);
    to.push_back({place, system::text_of(relative), plain(place) + ": cannot be read: " + fault.message()});
}

} // namespace

bool are_several(std::vector<std::string> const& paths) {
    return paths.size() > 1 || (!paths.empty() && is_folder(paths.front()));
}

std::string place_of(std::string const& path) {
    std::error_code ignored;
    fs::path const p = system::path_of(path);
    fs::path const folder = fs::weakly_canonical(p.parent_path().empty() ? "." : p.parent_path(), ignored);
    return system::text_of(folder / p.filename());
}

bool is_torchscript(std::string const& path) {
    try {
        return torchscript::is_archive(path);
    } catch (error const&) {
        return false;
    }
}

std::vector<model_file> find_files(std::vector<std::string> const& paths,
                                   std::function<bool(std::string const& path)> const& wanted, std::string_view what) {
    std::vector<model_file> out;
    for (std::string const& path : paths) {
        if (!is_folder(path)) {
            out.push_back({path, system::text_of(system::part_of(path).filename())});
            continue;
        }
        std::vector<model_file> found;
        search(system::path_of(path), {}, wanted, found);
        if (found.empty()) throw error(plain(path) + ": has no " + std::string(what));
        std::sort(found.begin(), found.end(), [](model_file const& a, model_file const& b) {
            return system::part_of(a.relative) < system::part_of(b.relative);
        });
        std::move(found.begin(), found.end(), std::back_inserter(out));
    }
    std::set<std::string> seen;
    std::erase_if(out, [&](model_file const& f) { return !seen.insert(place_of(f.path)).second; });
    return out;
}

std::vector<model_file> find_programs(std::vector<std::string> const& paths, bool torchscript) {
    auto const wanted = [&](std::string const& path) {
        return path.ends_with(".pt2") || (torchscript && path.ends_with(".pt") && is_torchscript(path));
    };
    return find_files(paths,
                      wanted,
                      torchscript ? ".pt2 file and no TorchScript archive"
                                  : ".pt2 file; TorchScript archives (.pt) need --input");
}

} // namespace aton::tool
