// SPDX-License-Identifier: MIT
#include <aton/frontend/torchscript/read_program.hpp>

#include <memory>

#include "frontend/files/text.hpp"
#include "library.hpp"
#include "repeated_calls.hpp"

namespace ATON_NAMESPACE::torchscript {

bool is_archive(std::string const& path) {
    files::mapped_file const file(path);
    if (!files::looks_like_zip(file.bytes())) return false;
    return is_archive(files::zip_directory(file.bytes(), path));
}

program::program read_program(std::string const& path, read_options const& options) {
    auto const file = std::make_shared<files::mapped_file>(path);
    library code(file, path);
    program::program out = interpret(code, options);
    out.storage = file;
    return out;
}

} // namespace ATON_NAMESPACE::torchscript
