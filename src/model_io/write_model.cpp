// SPDX-License-Identifier: MIT
// From a graph to the bytes of a ModelProto, and to a file that appears whole or not at all.
#include <aton/model_io/model_io.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "proto.hpp"

#include <onnx/shape_inference/implementation.h>

#include <aton/dsl/error.hpp>
#include <aton/dsl/print.hpp>
#include <aton/dsl/value_names.hpp>

namespace aton {

namespace {

/// Names come from anywhere; a message is one line.
[[noreturn]] void refuse(std::string const& what) { throw error(detail::one_line(what)); }

struct version_row {
    std::string_view domain;
    int opset;
    int ir;
};

// The first IR version of an ONNX release that has the opset: VERSION_TABLE in onnx/helper.py 1.23.2, one row for each change.
constexpr version_row version_table[] = {
    {"", 1, 3},
    {"", 9, 4},
    {"", 10, 5},
    {"", 11, 6},
    {"", 12, 7},
    {"", 15, 8},
    {"", 19, 9},
    {"", 21, 10},
    {"", 23, 11},
    {"", 24, 12},
    {"", 25, 13},
    {"", 28, 14},
    {"ai.onnx.ml", 2, 6},
    {"ai.onnx.ml", 3, 8},
    {"ai.onnx.ml", 4, 9},
    {"ai.onnx.ml", 5, 10},
    {"ai.onnx.training", 1, 7},
    {"ai.onnx.preview.training", 1, 7},
};

int ir_for(std::string_view domain, int opset) {
    int ir = 3;
    for (version_row const& row : version_table)
        if (row.domain == domain && row.opset <= opset) ir = std::max(ir, row.ir);
    return ir;
}

/// The IR version that brought an element type.
int ir_for(dtype t) {
    switch (t) {
    case dtype::bfloat16: return 4;
    case dtype::float8_e4m3fn:
    case dtype::float8_e4m3fnuz:
    case dtype::float8_e5m2:
    case dtype::float8_e5m2fnuz: return 9;
    case dtype::uint4:
    case dtype::int4: return 10;
    case dtype::float4_e2m1: return 11;
    case dtype::float8_e8m0: return 12;
    case dtype::uint2:
    case dtype::int2: return 13;
    default: return 3;
    }
}

std::string_view plain_domain(std::string_view domain) { return domain == "ai.onnx" ? std::string_view() : domain; }

/// What a graph and its subgraphs need from the model around them.
struct needs {
    int ir = 3;
    std::vector<std::pair<std::string, int>> domains;

    void collect(graph_data const& g) {
        if (!g.initializers.empty()) ir = std::max(ir, 4); // before IR 4 every initializer is an input as well
        for (graph_value const& v : g.values) ir = std::max(ir, ir_for(v.type.dtype));
        for (graph_node const& n : g.nodes) {
            import(g, plain_domain(n.domain));
            for (node_attribute const& a : n.attributes) {
                for (tensor const& t : a.tensors) ir = std::max(ir, ir_for(t.type));
                for (graph_data const& nested : a.graphs) collect(nested);
            }
        }
    }

private:
    void import(graph_data const& g, std::string_view domain) {
        if (domain.empty()) return;
        int version = 1;
        for (auto const& [name, v] : g.opset_imports)
            if (name == domain) version = v;
        for (auto& [name, v] : domains)
            if (name == domain) return void(v = std::max(v, version));
        domains.emplace_back(domain, version);
    }
};

void write_dims(shape const& from, ::onnx::TensorShapeProto& to) {
    for (dim const& d : from.dims()) {
        auto& out = *to.add_dim();
        if (d.is_static()) out.set_dim_value(d.size());
        else if (d.is_symbolic()) out.set_dim_param(std::string(d.symbol()));
    }
}

void write_type(value_type const& from, ::onnx::TypeProto& to) {
    ::onnx::TypeProto* type = &to;
    if (from.kind == value_kind::optional_tensor || from.kind == value_kind::optional_sequence)
        type = type->mutable_optional_type()->mutable_elem_type();
    if (from.kind == value_kind::sequence || from.kind == value_kind::optional_sequence)
        type = type->mutable_sequence_type()->mutable_elem_type();
    type->mutable_tensor_type()->set_elem_type(static_cast<int>(from.dtype));
    if (from.shape.has_rank()) write_dims(from.shape, *type->mutable_tensor_type()->mutable_shape());
}

void write_tensor(tensor const& from, std::string_view what, ::onnx::TensorProto& to) {
    std::size_t bytes = bits(from.type);
    for (std::int64_t size : from.sizes) {
        if (size < 0 ||
            (size != 0 && bytes > std::numeric_limits<std::size_t>::max() / 8 / static_cast<std::size_t>(size)))
            refuse(std::string(what) + ": impossible sizes of a constant");
        bytes *= static_cast<std::size_t>(size);
        to.add_dims(size);
    }
    bytes = (bytes + 7) / 8;
    if (bits(from.type) == 0)
        refuse(std::string(what) + ": a constant of dtype " + std::string(name(from.type)) + " cannot be written");
    if (bytes != from.bytes.size())
        refuse(std::string(what) + ": a constant has " + std::to_string(from.bytes.size()) + " bytes, its sizes need " +
               std::to_string(bytes));
    to.set_data_type(static_cast<int>(from.type));
    to.set_raw_data(from.bytes);
}

class graph_writer {
public:
    explicit graph_writer(int ir) : ir_(ir) {}

    void write(graph_data const& g, ::onnx::GraphProto& out, bool is_main) {
        std::vector<std::string> const names = namer_.add(g);
        out.set_name(g.name.empty() ? "graph" : g.name);
        std::vector<bool> listed(g.values.size()); // in input, output or initializer: no value_info
        for (graph_initializer const& i : g.initializers) {
            auto& to = *out.add_initializer();
            to.set_name(at(names, i.value));
            write_tensor(i.data, to.name(), to);
            listed[i.value] = true;
        }
        for (value_id id : g.inputs) {
            write_value(g, id, names, *out.add_input());
            if (is_main && g.values[id].type.dtype == dtype::undefined)
                refuse("the dtype of input %" + names[id] + " is not known");
            listed[id] = true;
        }
        for (graph_node const& n : g.nodes) write_node(n, names, *out.add_node());
        for (value_id id : g.outputs) {
            write_value(g, id, names, *out.add_output());
            listed[id] = true;
        }
        for (graph_node const& n : g.nodes)
            for (value_id id : n.outputs)
                if (id != no_value && !listed[id] && g.values[id].type.dtype != dtype::undefined)
                    write_value(g, id, names, *out.add_value_info());
        namer_.leave();
    }

private:
    static std::string const& at(std::vector<std::string> const& names, value_id id) {
        if (id >= names.size()) refuse("the graph refers to a value that it does not have");
        return names[id];
    }

    static void write_value(graph_data const& g, value_id id, std::vector<std::string> const& names,
                            ::onnx::ValueInfoProto& to) {
        to.set_name(at(names, id));
        if (g.values[id].type.dtype != dtype::undefined) write_type(g.values[id].type, *to.mutable_type());
    }

    void write_node(graph_node const& n, std::vector<std::string> const& names, ::onnx::NodeProto& to) {
        to.set_op_type(n.op);
        to.set_name(n.op + '_' + std::to_string(nodes_++));
        if (!plain_domain(n.domain).empty()) to.set_domain(n.domain);
        for (value_id id : n.inputs) to.add_input(id == no_value ? std::string() : at(names, id));
        for (value_id id : n.outputs) to.add_output(id == no_value ? std::string() : at(names, id));
        std::vector<node_attribute const*> sorted; // as they are printed: nested graphs get the same names there
        for (node_attribute const& a : n.attributes) sorted.push_back(&a);
        std::sort(sorted.begin(), sorted.end(), [](auto const* a, auto const* b) {
            return a->name != b->name ? a->name < b->name : std::less<>()(a, b);
        });
        for (node_attribute const* a : sorted) write_attribute(*a, to.name(), *to.add_attribute());
        if (n.source.empty()) return;
        if (ir_ < 10) return to.set_doc_string(n.source); // nodes have metadata_props since IR 10
        auto& entry = *to.add_metadata_props();
        entry.set_key("source");
        entry.set_value(n.source);
    }

    void write_attribute(node_attribute const& a, std::string const& node, ::onnx::AttributeProto& to) {
        using onnx::attr_type;
        std::string const what = node + ", attribute '" + a.name + "'";
        to.set_name(a.name);
        to.set_type(static_cast<::onnx::AttributeProto_AttributeType>(a.type));
        switch (a.type) {
        case attr_type::f: return to.set_f(a.f);
        case attr_type::i: return to.set_i(a.i);
        case attr_type::s: return to.set_s(a.s);
        case attr_type::floats: return to.mutable_floats()->Add(a.floats.begin(), a.floats.end());
        case attr_type::ints: return to.mutable_ints()->Add(a.ints.begin(), a.ints.end());
        case attr_type::strings: return to.mutable_strings()->Add(a.strings.begin(), a.strings.end());
        case attr_type::t:
            if (a.tensors.size() != 1) break;
            return write_tensor(a.tensors[0], what, *to.mutable_t());
        case attr_type::tensors:
            for (tensor const& t : a.tensors) write_tensor(t, what, *to.add_tensors());
            return;
        case attr_type::g:
            if (a.graphs.size() != 1) break;
            return write(a.graphs[0], *to.mutable_g(), false);
        case attr_type::graphs:
            for (graph_data const& g : a.graphs) write(g, *to.add_graphs(), false);
            return;
        default: break;
        }
        refuse(what + " has no value that can be written");
    }

    int ir_;
    std::size_t nodes_ = 0;
    value_names<> namer_;
};

bool has_dtype(::onnx::ValueInfoProto const& v) {
    if (!v.has_type() || v.type().value_case() == ::onnx::TypeProto::VALUE_NOT_SET) return false;
    return !v.type().has_tensor_type() || v.type().tensor_type().elem_type() != 0;
}

bool has_dtype_and_rank(::onnx::ValueInfoProto const& v) {
    return has_dtype(v) && (!v.type().has_tensor_type() || v.type().tensor_type().has_shape());
}

/// Inference numbers every size that it does not know ("unk__7"): those are no symbols.
void forget_made_up_symbols(::onnx::ValueInfoProto& v) {
    if (!v.type().has_tensor_type() || !v.type().tensor_type().has_shape()) return;
    for (auto& d : *v.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
        if (d.dim_param().starts_with("unk__")) d.clear_dim_param();
}

/// The checker demands dtype and rank of every output: what our rules left open, ONNX's inference may know.
void complete_outputs(::onnx::ModelProto& model) {
    auto& outputs = *model.mutable_graph()->mutable_output();
    if (std::all_of(outputs.begin(), outputs.end(), has_dtype_and_rank)) return;
    ::onnx::ModelProto inferred = model;
    try {
        ::onnx::shape_inference::InferShapes(inferred);
    } catch (std::exception const&) {
        inferred = model; // the checker will say what is wrong
    }
    for (int i = 0; i != outputs.size(); ++i) {
        if (!has_dtype_and_rank(outputs[i])) {
            outputs[i] = inferred.graph().output(i);
            forget_made_up_symbols(outputs[i]);
        }
        if (!has_dtype(outputs[i]))
            refuse("the type of output %" + outputs[i].name() + " is not known; state it with set_type");
    }
}

/// Writes to an open file descriptor and closes it; false: errno says why.
bool write_all(int file, std::string_view bytes) {
    while (!bytes.empty()) {
        ::ssize_t const n = ::write(file, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            int const reason = errno;
            ::close(file);
            errno = reason;
            return false;
        }
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return ::close(file) == 0;
}

[[noreturn]] void cannot_write(std::string const& path) {
    throw error(path + ": cannot be written: " + std::strerror(errno));
}

void write_file(std::string const& path, std::string_view bytes) {
    std::error_code ignored;
    auto const status = std::filesystem::status(path, ignored);
    if (std::filesystem::is_directory(status)) throw error(path + ": is a folder, not a file");
    if (std::filesystem::exists(status) &&
        !std::filesystem::is_regular_file(status)) { // a pipe or device is written to, not replaced
        int const file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
        if (file < 0 || !write_all(file, bytes)) cannot_write(path);
        return;
    }
    static std::atomic<unsigned> serial{0};
    std::string const temporary = path + ".tmp." + std::to_string(::getpid()) + '.' + std::to_string(serial++);
    int const file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) cannot_write(path);
    if (write_all(file, bytes) && ::rename(temporary.c_str(), path.c_str()) == 0) return;
    int const reason = errno;
    ::unlink(temporary.c_str());
    errno = reason;
    cannot_write(path);
}

} // namespace

std::string to_model_proto(graph_data const& graph, model_options const& options) {
    if (graph.opset < 1) throw error("the graph has no opset");
    needs wanted;
    wanted.collect(graph);
    for (auto const& [domain, version] : wanted.domains) wanted.ir = std::max(wanted.ir, ir_for(domain, version));
    wanted.ir = std::max(wanted.ir, ir_for("", graph.opset));

    ::onnx::ModelProto model;
    model.set_ir_version(options.ir_version != 0 ? options.ir_version : wanted.ir);
    model.set_producer_name(options.producer_name);
    model.set_producer_version(options.producer_version.empty() ? ATON_VERSION : options.producer_version);
    if (!options.doc.empty()) model.set_doc_string(options.doc);
    auto& imported = *model.add_opset_import();
    imported.set_domain("");
    imported.set_version(graph.opset);
    for (auto const& [domain, version] : wanted.domains) {
        auto& other = *model.add_opset_import();
        other.set_domain(domain);
        other.set_version(version);
    }
    for (auto const& [key, text] : options.metadata) {
        auto& entry = *model.add_metadata_props();
        entry.set_key(key);
        entry.set_value(text);
    }
    graph_writer(static_cast<int>(model.ir_version())).write(graph, *model.mutable_graph(), true);
    complete_outputs(model);

    if (model.ByteSizeLong() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        throw error("the model is larger than 2 GiB, which one ONNX file cannot hold");
    return model.SerializeAsString();
}

void write_model(graph_data const& graph, std::string const& path, model_options const& options) {
    write_file(path, to_model_proto(graph, options));
}

} // namespace aton
