// SPDX-License-Identifier: MIT
// aton print, aton check and aton unconvertible: show and check the contents of a file.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/json_writer.hpp>
#include <aton/frontend/pt2/read_program.hpp>
#include <aton/ir/print.hpp>
#include <aton/model_io/kept_model.hpp>
#include <aton/model_io/model_io.hpp>
#include <aton/targets/faults.hpp>

#include "commands.hpp"
#include "model_files.hpp"
#include "progress.hpp"
#include "system/paths.hpp"

namespace aton::tool {

std::string summary(model const& m) {
    std::string out = "IR " + std::to_string(m.ir_version) + ", opset " + std::to_string(m.graph.opset);
    for (auto const& [domain, version] : m.graph.opset_imports) out += ", " + domain + ' ' + std::to_string(version);
    if (!m.producer_name.empty())
        out += ", made by " + m.producer_name + (m.producer_version.empty() ? "" : ' ' + m.producer_version);
    return plain(std::move(out));
}

bool is_archive(std::string const& path) {
    std::filesystem::path const file = system::path_of(path);
    if (!std::filesystem::is_regular_file(file)) return false; // the reader reports the error
    std::ifstream in(file, std::ios::binary);
    char start[2]{};
    return in.read(start, sizeof start) && start[0] == 'P' && start[1] == 'K';
}

namespace {

int print_program(std::string const& path, export_options const& options, bool is_json) {
    program::program const p = read_program(path, options);
    std::vector<std::string> models;
    if (!torchscript::is_archive(path)) models = pt2::archive(path).models();
    if (is_json) {
        print_out(json_of(path, p, models));
        return 0;
    }
    std::string head = "# model " + plain(p.name);
    if (models.size() > 1) {
        head += " of";
        for (std::string const& each : models) head += ' ' + plain(each);
    }
    if (!p.torch_version.empty()) head += ", torch " + plain(p.torch_version);
    print_out(head + ", " + std::to_string(p.main.nodes.size()) + " nodes\n" + to_string(p));
    return 0;
}

std::string as_text(std::vector<unconvertible> const& all, std::size_t nodes, int opset) {
    if (all.empty())
        return "all " + std::to_string(nodes) + " nodes can be converted at opset " + std::to_string(opset) + '\n';
    std::string out;
    for (unconvertible const& u : all) {
        out +=
            plain(u.op) + ": " + (u.count == 1 ? "once" : std::to_string(u.count) + " times") + ", " + plain(u.reason);
        if (!u.nearest.empty()) out += "; nearest: " + u.nearest;
        out += '\n';
        for (std::string const& place : u.places) out += "    " + plain(place) + '\n';
    }
    return out;
}

} // namespace

graph_data with_weights(graph_data graph) {
    std::vector<graph_data*> left{&graph};
    while (!left.empty()) {
        graph_data& g = *left.back();
        left.pop_back();
        for (graph_initializer& i : g.initializers)
            if (i.stored != nullptr) i.data = load(*std::exchange(i.stored, nullptr));
        for (graph_node& n : g.nodes)
            for (node_attribute& a : n.attributes)
                for (graph_data& inner : a.graphs) left.push_back(&inner);
    }
    return graph;
}

int print_file(print_request const& request) {
    std::string const& path = request.file;
    bool const is_json = request.format == "json";
    export_options options;
    options.model = request.model;
    for (std::string const& text : request.inputs) options.inputs.push_back(parse_input(text));
    if (is_archive(path)) return print_program(path, options, is_json);
    if (!request.inputs.empty()) throw error(plain(path) + ": --input is for TorchScript archives");
    if (!request.model.empty()) throw error(plain(path) + ": --model is for .pt2 files");
    model const m = read_model(path);
    if (is_json) {
        print_out(json_of(path, m));
        return 0;
    }
    std::string out = "# " + summary(m) + '\n';
    if (!m.external.empty())
        out += "# " + std::to_string(m.external.size()) + " tensors in other files, the first in " +
               plain(m.external.front().location) + '\n';
    print_out(out + to_string(m.graph));
    return 0;
}

void write_json(json_writer& out, std::vector<unconvertible> const& all) {
    out.begin_array();
    for (unconvertible const& u : all) {
        out.new_line("  ").begin_object().field("op", u.op).field("count", u.count).field("reason", u.reason);
        out.name("nearest");
        if (u.nearest.empty()) out.null();
        else out.value(u.nearest);
        out.name("places").array(u.places).end_object();
    }
    if (!all.empty()) out.new_line();
    out.end_array();
}

namespace {

/// The known faults of ONNX Runtime that a file meets.
std::vector<targets::met_fault> faults_in(std::string const& path, std::string const& release) {
    kept_model const m(path); // with the types that ONNX's inference knows
    return targets::find_faults(m.graph, targets::onnxruntime_faults(), targets::parse_release(release));
}

std::string text_of(targets::met_fault const& met) {
    std::string const others = met.count == 1 ? "" : " and " + std::to_string(met.count - 1) + " more";
    return plain(met.place) + others + ": ONNX Runtime " + met.fault->says + " (" + met.fault->name + ", releases " +
           met.fault->releases + "; " + met.fault->source + ")";
}

void write_faults(json_writer& out, std::vector<targets::met_fault> const& all) {
    out.name("faults").array(all, [&](targets::met_fault const& met) {
        out.begin_object().field("fault", met.fault->name).field("place", met.place).field("count", met.count);
        out.field("says", met.fault->says).field("releases", met.fault->releases).field("source", met.fault->source);
        out.end_object();
    });
}

} // namespace

int check_models(check_request const& request) {
    bool const is_json = request.format == "json";
    int status = 0;
    json_writer out;
    out.begin_array();
    auto const wanted = [](std::string const& path) { return path.ends_with(".onnx"); };
    std::vector<model_file> const files = find_files(request.files, wanted, ".onnx file");
    progress shown(style_of_stderr());
    std::size_t done = 0;
    for (model_file const& file : files) {
        std::string const& path = file.path;
        shown.stage(path);
        shown.step(done++, files.size(), "files");
        out.new_line("  ").begin_object().field("file", path);
        std::vector<targets::met_fault> faults;
        try {
            if (!file.fault.empty()) throw error(file.fault);
            check_model(path);
            model const m = read_model(path);
            if (!request.release.empty()) faults = faults_in(path, request.release);
            out.field("ok", true).field("nodes", m.graph.nodes.size()).field("ir_version", m.ir_version);
            out.field("opset", m.graph.opset).name("error").null();
            if (!is_json)
                print_out(path + ": ok (" + std::to_string(m.graph.nodes.size()) + " nodes, " + summary(m) + ")\n");
        } catch (error const& e) {
            out.field("ok", false).name("nodes").null().name("ir_version").null().name("opset").null();
            out.field("error", std::string_view(e.what()));
            complain(e.what());
            status = 1;
        }
        if (!request.release.empty()) write_faults(out, faults);
        for (targets::met_fault const& met : faults) {
            status = 1;
            if (!is_json) print_out(path + ": " + text_of(met) + '\n');
        }
        out.end_object();
    }
    if (is_json) print_out(out.new_line().end_array().text() + '\n');
    return status;
}

namespace {

/// The operators of one file. Sets the number of its nodes.
std::vector<unconvertible> unconvertible_in(std::string const& path, export_options const& options,
                                            std::size_t& nodes) {
    program::program p = read_program(path, options);
    prepare(p, options);
    nodes = p.main.nodes.size();
    return find_unconvertible(p, options);
}

/// Lists the operators of one file after the other, whatever happens to the others.
int list_several(unconvertible_request const& request, export_options const& options) {
    json_writer json;
    json.begin_array();
    bool const is_json = request.format == "json";
    int status = 0;
    std::vector<model_file> const files = find_programs(request.files, !options.inputs.empty());
    progress shown(style_of_stderr());
    std::size_t done = 0;
    for (model_file const& file : files) {
        shown.stage(file.path);
        shown.step(done++, files.size(), "files");
        export_options own = options;
        if (!is_torchscript(file.path)) own.inputs.clear();
        std::size_t nodes = 0;
        json.new_line("  ").begin_object().field("file", file.path);
        try {
            if (!file.fault.empty()) throw error(file.fault);
            std::vector<unconvertible> const all = unconvertible_in(file.path, own, nodes);
            write_json(json.name("error").null().name("unconvertible"), all);
            std::string const text = as_text(all, nodes, options.opset);
            if (!is_json) print_out(plain(file.path) + (all.empty() ? ": " : ":\n") + text);
        } catch (error const& e) {
            json.field("error", std::string_view(e.what())).name("unconvertible").begin_array().end_array();
            complain(e.what());
            status = 1;
        }
        json.end_object();
    }
    if (is_json) print_out(json.new_line().end_array().text() + '\n');
    return status;
}

} // namespace

int list_unconvertible(unconvertible_request const& request) {
    std::vector<plugin> const plugins = load_plugins(request.plugins);
    export_options options = request.options;
    options.tables = tables_of(plugins);
    for (std::string const& text : request.inputs) options.inputs.push_back(parse_input(text));
    if (are_several(request.files)) return list_several(request, options);
    std::size_t nodes = 0;
    std::vector<unconvertible> const all = unconvertible_in(request.files.front(), options, nodes);
    json_writer json;
    write_json(json, all);
    print_out(request.format == "json" ? json.text() + '\n' : as_text(all, nodes, options.opset));
    return 0;
}

} // namespace aton::tool
