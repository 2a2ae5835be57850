// SPDX-License-Identifier: MIT
// Loads tensors of a model from other files.
#include <aton/model_io/model_io.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string>
#include <system_error>

#include <aton/core/error.hpp>

#include "external_bytes.hpp"
#include "mapped_data.hpp"
#include "proto.hpp"
#include "read_tensor.hpp"
#include "system/paths.hpp"

namespace ATON_NAMESPACE {

namespace {

namespace fs = std::filesystem;

void read_elements(external_tensor const& e, fs::path const& file, tensor& to) {
    std::size_t const count = detail::require_sizes(to, "the tensor");
    if (to.type == dtype::undefined || to.type == dtype::string)
        throw error("has a dtype that cannot be stored in a file");
    std::uint64_t const needed = (std::uint64_t{count} * bits(to.type) + 7) / 8;
    std::error_code fault;
    std::uint64_t const size = fs::file_size(file, fault);
    if (fault) throw error("cannot be read from " + system::text_of(file) + ": " + fault.message());
    bool const inside = e.offset >= 0 && static_cast<std::uint64_t>(e.offset) <= size &&
                        needed <= size - static_cast<std::uint64_t>(e.offset);
    if (!inside || (e.length >= 0 && static_cast<std::uint64_t>(e.length) != needed))
        throw error("needs " + std::to_string(needed) + " bytes at offset " + std::to_string(e.offset) + " of " +
                    system::text_of(file) + ", which does not have them");
    std::ifstream in(file, std::ios::binary);
    to.bytes.resize(needed);
    if (!in.seekg(e.offset) || (needed != 0 && !in.read(to.bytes.data(), static_cast<std::streamsize>(needed))))
        throw error("cannot be read from " + system::text_of(file));
}

} // namespace

void detail::read_external(external_tensor const& e, fs::path const& folder, tensor& to) {
    read_elements(e, system::path_in(folder, part_inside(e.location)), to);
}

void load_external(model& m, std::string const& path) {
    fs::path const folder = system::path_of(path).parent_path();
    for (external_tensor const& e : m.external) {
        graph_initializer* to = nullptr;
        for (graph_initializer& i : m.graph.initializers)
            if (m.graph.values[i.value].name == e.name) to = &i;
        try {
            if (to == nullptr) throw error("is not an initializer of the main graph");
            detail::read_external(e, folder, to->data);
        } catch (error const& fault) {
            throw error(detail::one_line(path + ": the external tensor '" + e.name + "' " + fault.what()));
        }
    }
    m.external.clear();
}

} // namespace ATON_NAMESPACE
