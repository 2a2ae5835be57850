// SPDX-License-Identifier: MIT
// ONNX's checker, strict and with full shape inference. Its message becomes one line.
#include <aton/model_io/model_io.hpp>

#include <exception>
#include <string>
#include <string_view>

#include "proto.hpp"

#include <onnx/checker.h>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE {

namespace {

template <class Model>
void check(Model const& model, std::string_view name) {
    try {
        ::onnx::checker::check_model(
            model, /*full_check=*/true, /*skip_opset_compatibility_check=*/false, /*check_custom_domain=*/false);
    } catch (error const&) {
        throw;
    } catch (std::exception const& e) {
        throw error(std::string(name) + ": " + detail::one_line(e.what()));
    }
}

} // namespace

void check_model(std::string const& path) {
    (void)detail::parse_model_proto(detail::read_file(path), path); // has a better message if the file is not a model
    check(path, path);
}

void check_model_bytes(std::string_view bytes, std::string_view name) {
    check(detail::parse_model_proto(bytes, name), name);
}

} // namespace ATON_NAMESPACE
