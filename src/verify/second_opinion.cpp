// SPDX-License-Identifier: MIT
#include <aton/verify/second_opinion.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <aton/core/error.hpp>
#include <aton/core/json_writer.hpp>
#include <aton/model_io/model_io.hpp>
#include <aton/model_io/values.hpp>
#include <aton/runtime/onnx_model.hpp>
#include <aton/verify/comparison.hpp>

#include "graph_inputs.hpp"
#include "narrowest_results.hpp"
#include "part_search.hpp"
#include "report_text.hpp"
#include "system/paths.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

using backends::named_value;
using runtime::value;

/// Operators whose results no two runtimes have in common.
void refuse_random(model_parts const& model) {
    constexpr std::string_view random[] = {
        "Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"};
    for (std::size_t i = 0; i != model.nodes().size(); ++i)
        if (model.nodes()[i].domain.empty() && std::ranges::find(random, model.nodes()[i].op) != std::end(random))
            throw error(model.path() + ": " + describe(model.nodes(), i) +
                        ", draws random numbers, which are others in every runtime");
}

class questioner {
public:
    questioner(model_parts const& model, std::span<std::unique_ptr<backends::backend> const> others,
               second_opinion_options const& options)
        : model_(model),
          others_(others),
          options_(options),
          graph_(parse_model(model.whole(), model.path()).graph, {{}, options.seed}) {
        for (auto const& each : others) report_.opinions.push_back({each->title()});
        report_.failed = others.size();
    }

    second_opinion_report run() {
        refuse_random(model_);
        int const sets = options_.inputs.empty() ? options_.samples : 1;
        for (int i = 0; i != sets && report_.passed(); ++i) sample(options_.seed + static_cast<std::uint64_t>(i));
        return std::move(report_);
    }

private:
    void count() {
        if (options_.progress) options_.progress(++runs_);
    }

    void sample(std::uint64_t seed) {
        known_values right;
        narrowest_results narrowest;
        graph_data const& g = graph_.graph();
        accepted_run const run = run_accepted(
            graph_, model_, options_.inputs, seed, [&](graph_node const& n, std::span<value const> results) {
                narrowest.note(n, results);
                for (std::size_t i = 0; i != results.size() && i != n.outputs.size(); ++i) {
                    if (n.outputs[i] == no_value) continue;
                    right.values[g.values[n.outputs[i]].name] = results[i];
                    right.narrowest[g.values[n.outputs[i]].name] = narrowest.of(n.outputs[i]);
                }
            });
        std::vector<named_value> inputs;
        for (std::size_t i = 0; i != run.inputs.size(); ++i) {
            inputs.emplace_back(model_.inputs()[i].name, run.inputs[i]);
            right.values[inputs.back().first] = run.inputs[i];
        }
        for (std::size_t i = 0; i != run.outputs.size(); ++i) right.values[model_.outputs()[i]] = run.outputs[i];
        ++report_.samples;
        for (std::size_t level = 0; level != others_.size(); ++level) {
            bool const has_run = ask_one(level, inputs, right);
            if (report_.opinions[level].passed() || !report_.passed()) continue;
            report_.failed = level;
            part_search search(model_, *others_[level], right, has_run, [this] { count(); });
            if (std::optional<failing_part> found = search.find()) report_.parts.push_back(std::move(*found));
        }
    }

    /// Returns whether the runtime has run the model.
    bool ask_one(std::size_t level, std::vector<named_value> const& inputs, known_values const& right) {
        opinion& to = report_.opinions[level];
        count();
        std::vector<value> got;
        try {
            got = others_[level]->run(model_.whole(), inputs, model_.outputs());
        } catch (backends::run_error const& e) {
            to.fault = std::string("does not run the model: ") + e.what();
            return false;
        }
        for (std::size_t i = 0; i != got.size(); ++i) {
            std::string const& name = model_.outputs()[i];
            if (to.outputs.size() == i) to.outputs.push_back({name});
            auto const narrowest = right.narrowest.find(name);
            comparison const c = compare(got[i],
                                         right.values.at(name),
                                         terms_of(model_.nodes().size()),
                                         narrowest == right.narrowest.end() ? dtype::undefined : narrowest->second);
            to.outputs[i].elements += c.elements;
            to.outputs[i].worst_error = std::max(to.outputs[i].worst_error, c.error);
            if (!c.same() && to.passed()) to.fault = "output '" + name + "': " + to_string(c);
        }
        return true;
    }

    model_parts const& model_;
    std::span<std::unique_ptr<backends::backend> const> others_;
    second_opinion_options const& options_;
    runtime::onnx_model graph_;
    second_opinion_report report_;
    std::size_t runs_ = 0;
};

double worst_of(opinion const& o) {
    double out = 0;
    for (output_report const& each : o.outputs) out = std::max(out, each.worst_error);
    return out;
}

void write(json_writer& out, node_place const& place) {
    out.begin_object().field("position", place.position).field("op", place.op).field("name", place.name).end_object();
}

} // namespace

second_opinion_report ask(model_parts const& model, std::span<std::unique_ptr<backends::backend> const> others,
                          second_opinion_options const& options) {
    return questioner(model, others, options).run();
}

std::string second_opinion_report::to_text() const {
    std::string out;
    for (opinion const& o : opinions) {
        std::string const on = std::to_string(samples) + (samples == 1 ? " sample" : " samples");
        out += o.runtime + ": " +
               (o.passed() ? "the same on " + on + ", worst error " + short_text(worst_of(o)) + " of the tolerance"
                           : on_one_line(o.fault)) +
               '\n';
    }
    if (passed()) return out;
    if (parts.empty()) return out + "no part of the model has this fault by itself\n";
    failing_part const& part = parts.front();
    if (failed != 0) out += opinions[failed - 1].runtime + " is right: an optimization of the next level is not\n";
    out += "the node that differs: " + part.culprit.text +
           (part.value.empty() ? "" : ", value " + on_one_line(part.value)) + ": " + on_one_line(part.why) + '\n';
    if (part.nodes.size() == 1) return out;
    out += "only together with:\n";
    for (node_place const& each : part.nodes)
        if (each.position != part.culprit.position) out += "    " + each.text + '\n';
    return out;
}

std::string second_opinion_report::to_json() const {
    json_writer out;
    out.begin_object().field("passed", passed()).field("samples", samples);
    out.name("runtimes").array(opinions, [&](opinion const& o) {
        out.begin_object().field("runtime", o.runtime).field("passed", o.passed()).field("fault", o.fault);
        out.name("worst_error").value(worst_of(o), shown_digits).end_object();
    });
    out.name("part");
    if (parts.empty()) {
        out.null();
    } else {
        failing_part const& part = parts.front();
        out.begin_object().field("runtime", opinions[failed].runtime).name("node");
        write(out, part.culprit);
        out.field("value", part.value).field("why", part.why);
        out.name("nodes").array(part.nodes, [&](node_place const& each) { write(out, each); });
        out.end_object();
    }
    out.end_object();
    return out.text() + '\n';
}

namespace {

void write_values(std::vector<named_value> const& values, std::string const& folder, std::string const& what) {
    if (values.empty()) return;
    std::filesystem::create_directories(system::path_of(folder));
    for (std::size_t i = 0; i != values.size(); ++i) {
        file_value to;
        if (values[i].second.is_tensor())
            to.tensors.push_back(runtime::to_device(values[i].second, {}).one().to_constant());
        write_file(to_value_proto(to, values[i].first), folder + '/' + what + '_' + std::to_string(i) + ".pb");
    }
}

} // namespace

void write_reproduction(second_opinion_report const& report, std::string const& folder, std::string const& command) {
    if (report.parts.empty()) throw error("there is no part of the model to write to " + folder);
    failing_part const& part = report.parts.front();
    try {
        std::filesystem::create_directories(system::path_of(folder));
        write_file(part.model, folder + "/model.onnx");
        write_values(part.inputs, folder + "/inputs", "input");
        write_values(part.expected, folder + "/expected", "output");
        write_values(part.got, folder + "/got", "output");
    } catch (std::filesystem::filesystem_error const& e) {
        throw error(folder + ": cannot be written: " + e.code().message());
    }
    std::string text = "# " + report.opinions[report.failed].runtime + "\n\n";
    text += on_one_line(part.culprit.text) + (part.value.empty() ? "" : ", value " + on_one_line(part.value)) + ": " +
            on_one_line(part.why) + "\n\n";
    if (report.failed != 0) text += "Right at a lower level: " + report.opinions[report.failed - 1].runtime + ".\n\n";
    text += "`model.onnx` is the smallest part of a model that shows it, `inputs` what it gets, `expected` what Aton's "
            "runtime computes, `got` what this runtime gives.\n\n    " +
            command + "\n";
    write_file(text, folder + "/README.md");
}

} // namespace ATON_NAMESPACE::verify
