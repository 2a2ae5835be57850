// SPDX-License-Identifier: MIT
#include <aton/frontend/torchscript/read_program.hpp>

#include <memory>

#include "frontend/pt2/text.hpp"
#include "interpreter.hpp"
#include "library.hpp"

namespace ATON_NAMESPACE::torchscript {

bool is_archive(std::string const& path) {
    pt2::mapped_file const file(path);
    if (!pt2::looks_like_zip(file.bytes())) return false;
    return is_archive(pt2::zip_directory(file.bytes(), path));
}

program::program read_program(std::string const& path, read_options const& options) {
    auto const file = std::make_shared<pt2::mapped_file>(path);
    library code(file, path);
    program::program out = interpreter(code, options).run();
    out.storage = file;
    return out;
}

} // namespace ATON_NAMESPACE::torchscript
