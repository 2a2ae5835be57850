// SPDX-License-Identifier: MIT
#include <aton/backends/command.hpp>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include <aton/frontend/weights/tensor_file.hpp>
#include <aton/model_io/model_io.hpp>
#include <aton/model_io/values.hpp>
#include <aton/model_io/weights.hpp>

#include "system/paths.hpp"
#include "system/private_folder.hpp"
#include "system/program.hpp"

namespace ATON_NAMESPACE::backends {

namespace {

namespace fs = std::filesystem;
using runtime::value;

aton::tensor constant_of(value const& v, std::string const& name) {
    if (!v.is_tensor()) throw run_error("input '" + name + "' is not a tensor, which is not supported");
    return runtime::to_device(v, {}).one().to_constant();
}

void write_folder(std::span<named_value const> values, std::string const& folder) {
    for (std::size_t i = 0; i != values.size(); ++i)
        write_file(to_value_proto({{constant_of(values[i].second, values[i].first)}, false}, values[i].first),
                   folder + "/input_" + std::to_string(i) + ".pb");
}

std::vector<value> read_folder(std::span<std::string const> names, std::string const& folder) {
    std::vector<value> out;
    for (std::size_t i = 0; i != names.size(); ++i) {
        std::string const path = folder + "/output_" + std::to_string(i) + ".pb";
        if (!fs::exists(system::path_of(path)))
            throw run_error("it writes no output_" + std::to_string(i) + ".pb, of '" + names[i] + "'");
        out.emplace_back(runtime::tensor::from_constant(read_value(path, value_kind::tensor).tensors.at(0)));
    }
    return out;
}

std::string npz_of(std::span<named_value const> values) {
    std::vector<std::pair<std::string, aton::tensor>> all;
    for (auto const& [name, v] : values) all.emplace_back(name, constant_of(v, name));
    return weights::to_npz(all);
}

std::vector<value> read_npz(std::span<std::string const> names, std::string const& path) {
    if (!fs::exists(system::path_of(path))) throw run_error("it writes no outputs.npz");
    weights::tensor_file const file = weights::read_tensor_file(path);
    std::vector<value> out;
    for (std::string const& name : names) {
        auto const found = std::ranges::find(file.tensors, name, &std::pair<std::string, stored_tensor>::first);
        if (found == file.tensors.end()) throw run_error("outputs.npz has no array '" + name + "'");
        out.emplace_back(runtime::tensor::from_constant(load(found->second)));
    }
    return out;
}

/// The last line that a program has printed, which mostly says what is wrong.
std::string last_line(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
    std::size_t const start = text.find_last_of('\n');
    return std::string(start == std::string_view::npos ? text : text.substr(start + 1));
}

class command final : public backend {
public:
    command(std::vector<std::string> words, int seconds) : words_(std::move(words)), seconds_(seconds) {}

    [[nodiscard]] std::string title() const override { return "the command " + words_.front(); }

    [[nodiscard]] std::vector<value> run(std::string const& model, std::span<named_value const> inputs,
                                         std::span<std::string const> outputs) const override {
        system::private_folder const scratch;
        std::string const model_file = scratch.file("model.onnx");
        write_file(model, model_file);
        if (mentions("{inputs}")) write_folder(inputs, scratch.folder("inputs"));
        if (mentions("{inputs.npz}")) write_file(npz_of(inputs), scratch.file("inputs.npz"));
        bool const takes_npz = mentions("{outputs.npz}");
        if (!takes_npz) (void)scratch.folder("outputs");
        std::vector<std::string> words = words_;
        for (std::string& word : words)
            for (auto const& [mark, name] : marks) replace(word, mark, scratch.file(std::string(name)));
        system::program_end const end = system::run_program(words, seconds_);
        if (!end.why_not.empty()) throw error(words.front() + ": cannot be run: " + end.why_not);
        std::string said = last_line(scratch.without_path(end.said));
        if (!said.empty()) said = ": " + said;
        if (end.out_of_time)
            throw run_error("it takes more than " + std::to_string(seconds_) + " seconds (--timeout)" + said);
        if (end.signal != 0) throw run_error("signal " + std::to_string(end.signal) + " ends it" + said);
        if (end.status != 0) throw run_error("it ends with status " + std::to_string(end.status) + said);
        return takes_npz ? read_npz(outputs, scratch.file("outputs.npz"))
                         : read_folder(outputs, scratch.file("outputs"));
    }

    [[nodiscard]] bool mentions(std::string_view mark) const {
        return std::ranges::any_of(words_, [&](std::string const& w) { return w.find(mark) != std::string::npos; });
    }

private:
    static constexpr std::pair<std::string_view, std::string_view> marks[] = {{"{model}", "model.onnx"},
                                                                              {"{inputs}", "inputs"},
                                                                              {"{inputs.npz}", "inputs.npz"},
                                                                              {"{outputs}", "outputs"},
                                                                              {"{outputs.npz}", "outputs.npz"}};

    static void replace(std::string& in, std::string_view mark, std::string const& by) {
        for (std::size_t at = in.find(mark); at != std::string::npos; at = in.find(mark, at + by.size()))
            in.replace(at, mark.size(), by);
    }

    std::vector<std::string> words_;
    int seconds_;
};

} // namespace

std::vector<std::string> words_of(std::string const& command) {
    std::vector<std::string> out;
    bool in_word = false;
    char quote = 0;
    for (char const c : command) {
        bool const is_blank = c == ' ' || c == '\t' || c == '\n';
        if (quote == 0 && is_blank) {
            in_word = false;
            continue;
        }
        if (!in_word) out.emplace_back();
        in_word = true;
        if (quote == 0 && (c == '\'' || c == '"')) quote = c;
        else if (c == quote) quote = 0;
        else out.back() += c;
    }
    if (quote != 0) throw error("a quote of the command is not closed");
    return out;
}

std::unique_ptr<backend> make_command(std::string const& text, int seconds) {
    std::vector<std::string> words = words_of(text);
    if (words.empty()) throw error("the command is empty");
    auto out = std::make_unique<command>(std::move(words), seconds);
    if (!out->mentions("{model}") || !(out->mentions("{outputs}") || out->mentions("{outputs.npz}")))
        throw error("the command needs {model} and {outputs}: prog {model} {inputs} {outputs}");
    return out;
}

} // namespace ATON_NAMESPACE::backends
