// SPDX-License-Identifier: MIT
// Writes include/aton/onnx/generated/: every operator schema that the ONNX library registers, as pooled constexpr rows.
// Usage: generate_onnx_descriptors <folder>. The rows are read by include/aton/onnx/registry.hpp; every cost here is paid
// by every user's include, so equal strings, type sets and lists are stored once, and rows are small integers.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "onnx_descriptors/descriptors.hpp"

namespace {

/// Writes the whole file or nothing, and only if it changed: an equal file keeps its time stamp.
void save(std::filesystem::path const& path, std::string const& text) {
    std::ifstream old(path, std::ios::binary);
    if (old && std::string(std::istreambuf_iterator<char>(old), {}) == text) return;
    std::ofstream out(path, std::ios::binary);
    if (!(out << text).flush()) throw std::runtime_error("cannot write " + path.string());
}

} // namespace

int main(int argc, char** argv) try {
    if (argc != 2) throw std::runtime_error("usage: generate_onnx_descriptors <folder>");
    std::filesystem::path const folder = argv[1];
    std::filesystem::create_directories(folder);
    std::vector<::onnx::OpSchema> schemas = ::onnx::OpSchemaRegistry::get_all_schemas_with_history();
    aton::tool::descriptors const d = aton::tool::collect(schemas);
    std::ostringstream rows;
    aton::tool::write_schemas(rows, d);
    std::ostringstream attributes;
    aton::tool::write_attributes(attributes, schemas);
    std::ostringstream words;
    aton::tool::write_words(words, aton::tool::collect_words(schemas));
    save(folder / "op_schemas.hpp", rows.str());
    save(folder / "attribute_words.hpp", words.str());
    save(folder / "attributes.inc", attributes.str());
    std::cout << d.schemas.size() << " schemas of " << d.ops.size() << " operators\n";
    return 0;
} catch (std::exception const& e) {
    std::cerr << "generate_onnx_descriptors: " << e.what() << "\n";
    return 1;
}
