// SPDX-License-Identifier: MIT
// What arithmetic, comparisons and conditions give for operands of linear form.
#include "index_forms.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "attributes.hpp"
#include "rewriter.hpp"
#include "size_names.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

constexpr std::int64_t max_constant_elements = 4096; // larger constants are not compared with a form

using form = std::optional<linear_form>;

bool has_form(value_type const& t) {
    return t.kind == value_kind::tensor && (t.dtype == dtype::int64 || t.dtype == dtype::bool_) && t.shape.has_rank();
}

bool is_comparison(std::string_view op) {
    return op == "Equal" || op == "Less" || op == "LessOrEqual" || op == "Greater" || op == "GreaterOrEqual";
}
bool is_logic(std::string_view op) { return op == "And" || op == "Or" || op == "Not" || op == "Cast"; }

/// The linear function that gives the elements of a constant.
form form_of(tensor const& t) {
    std::int64_t const count = t.element_count();
    if ((t.type != dtype::int64 && t.type != dtype::bool_) || count == 0 || count > max_constant_elements) return {};
    auto const at = [&](std::int64_t i) { return t.at(static_cast<std::size_t>(i)).to<std::int64_t>(); };
    size_forms sizes;
    for (std::int64_t s : t.sizes) sizes.emplace_back(scalar_form{s});
    linear_form f = uniform_form({at(0)}, std::move(sizes));
    if (!is_coefficient(at(0))) return {};
    std::int64_t stride = 1;
    for (std::size_t axis = t.sizes.size(); axis-- > 0; stride *= t.sizes[axis]) {
        if (t.sizes[axis] == 1) continue;
        if (!is_coefficient(at(stride))) return {};
        f.steps[axis] = at(stride) - at(0);
    }
    for (std::int64_t i = 0; i != count; ++i) {
        std::int64_t expected = at(0);
        std::int64_t rest = i;
        for (std::size_t axis = t.sizes.size(); axis-- > 0; rest /= t.sizes[axis])
            expected += f.steps[axis] * (rest % t.sizes[axis]);
        if (expected != at(i)) return {};
    }
    return f;
}

} // namespace

void index_forms::clear() {
    index_.clear();
    forms_.clear();
    symbols_.clear();
    positions_.clear();
}

/// A symbol that is named after a sum, "2*s0 + 1", as the sum of its symbols; any other one is a number of its own.
scalar_form index_forms::size_of_symbol(std::size_t symbol) {
    if (auto const known = symbols_.find(symbol); known != symbols_.end()) return known->second;
    scalar_form const own{0, {{{unknown_number::kind::size, symbol}, 1}}};
    std::optional<scalar_form> sum(scalar_form{});
    std::string const name(r_.sizes().symbol_name(symbol));
    for (size_term const& term : terms_of_size(name)) {
        bool const is_number = term.symbol.empty();
        scalar_form part{is_number ? 1 : 0};
        if (!is_number)
            part.terms.emplace_back(unknown_number{unknown_number::kind::size, r_.sizes().symbol_of(term.symbol)}, 1);
        sum = sum ? add_multiple(*sum, part, term.factor) : sum;
    }
    return symbols_.emplace(symbol, sum && *sum != scalar_form{} ? *sum : own).first->second;
}

size_forms index_forms::sizes_of(shape const& s) {
    size_forms out;
    for (dim const& d : s.dims()) {
        auto const symbol = r_.sizes().symbol_of(d);
        if (d.is_static() && d.size() <= max_coefficient) out.emplace_back(scalar_form{d.size()});
        else if (symbol) out.emplace_back(size_of_symbol(*symbol));
        else out.emplace_back();
    }
    return out;
}

size_forms index_forms::sizes_of(value_id id) {
    linear_form const* const f = of(id);
    return f != nullptr ? f->sizes : sizes_of(r_.shape_of(id));
}

/// Writes sizes that are a number or have a name into the type.
void index_forms::refine_type(value_id id, size_forms const& sizes) {
    std::vector<dim> dims = r_.shape_of(id).dims();
    bool changed = false;
    for (std::size_t i = 0; i != dims.size(); ++i) {
        if (dims[i].is_static() || dims[i].is_symbolic() || !sizes[i]) continue;
        if (sizes[i]->is_number()) {
            if (sizes[i]->constant < 0) continue;
            dims[i] = sizes[i]->constant;
        } else {
            std::optional<std::size_t> named;
            for (auto const& [symbol, form] : symbols_)
                if (form == *sizes[i] && symbol < named.value_or(symbol + 1)) named = symbol;
            if (!named) continue;
            dims[i] = dim(std::string(r_.sizes().symbol_name(*named)));
        }
        changed = true;
    }
    if (changed) r_.set_shape(id, shape(dims));
}

void index_forms::store(value_id id, form f) {
    if (index_.size() <= id) index_.resize(r_.graph().values.size(), -1);
    index_[id] = -2;
    if (!f || f->sizes.size() != r_.shape_of(id).rank()) return;
    size_forms known = sizes_of(r_.shape_of(id));
    for (std::size_t i = 0; i != known.size(); ++i) {
        if (known[i]) f->sizes[i] = std::move(known[i]);
        if (f->sizes[i] == scalar_form{1}) f->steps[i] = 0; // its only coordinate is 0
    }
    refine_type(id, f->sizes);
    index_[id] = static_cast<std::int32_t>(forms_.size());
    forms_.push_back(*std::move(f));
}

linear_form const* index_forms::of(value_id id) {
    if (id == no_value || !has_form(r_.type(id))) return nullptr;
    if (id >= index_.size() || index_[id] == -1) {
        tensor const* const t = r_.constant(id);
        store(id, t != nullptr ? form_of(*t) : leaf(id));
    }
    return index_[id] < 0 ? nullptr : &forms_[static_cast<std::size_t>(index_[id])];
}

std::optional<std::int64_t> index_forms::number(value_id id) {
    linear_form const* const f = of(id);
    return f == nullptr ? std::nullopt : f->number();
}

/// A single integer that is a size, or not known further.
form index_forms::leaf(value_id id) {
    value_type const& t = r_.type(id);
    if (t.dtype != dtype::int64 || !t.shape.is_static() || t.shape.element_count() != 1) return {};
    if (auto const* const list = r_.sizes().elements(id); list != nullptr && list->size() == 1) {
        size_element const& e = list->front();
        if (e.what == size_element::kind::number && is_coefficient(e.number))
            return uniform_form({e.number}, sizes_of(t.shape));
        if (e.what == size_element::kind::symbol)
            return uniform_form(size_of_symbol(static_cast<std::size_t>(e.number)), sizes_of(t.shape));
    }
    return uniform_form({0, {{{unknown_number::kind::value, id}, 1}}}, sizes_of(t.shape));
}

void index_forms::record(graph_node const& n) {
    if (n.outputs.size() != 1 || n.outputs[0] == no_value || !has_form(r_.type(n.outputs[0]))) return;
    store(n.outputs[0], infer(n));
}

form index_forms::infer(graph_node const& n) {
    if (n.outputs.size() != 1 || n.outputs[0] == no_value || n.inputs.empty() || n.inputs[0] == no_value) return {};
    value_type const& t = r_.type(n.outputs[0]);
    if (!has_form(t)) return {};
    form const found = infer_operator(n);
    return found && found->steps.size() == t.shape.rank() ? found : leaf(n.outputs[0]);
}

form index_forms::infer_operator(graph_node const& n) {
    std::string_view const op = n.op;
    if (op == "Range") return range(n);
    if (op == "Reshape" || op == "Unsqueeze" || op == "Squeeze" || op == "Flatten") return reshaped(n);
    if (op == "Expand" || op == "Identity") return broadcast(n.inputs[0], sizes_of(r_.shape_of(n.outputs[0])));
    if (op == "Transpose") return transposed(n);
    if (op == "Slice") return sliced(n);
    if (op == "Concat") return joined(n);
    if (op == "Gather" || op == "GatherND") return gathered(n);
    if (op == "CumSum") return accumulated(n);
    if (op == "Add") return sum(n, 1);
    if (op == "Sub") return sum(n, -1);
    if (op == "Mul") return product(n);
    if (op == "Where") return chosen(n);
    if (is_comparison(op)) return comparison(n);
    if (is_logic(op)) return logic(n);
    if (op == "ConstantOfShape") {
        node_attribute const* const a = n.attribute("value");
        form const one = a == nullptr || a->tensors.size() != 1 ? form() : form_of(a->tensors[0]);
        return one ? form(uniform_form(one->origin, sizes_of(r_.shape_of(n.outputs[0])))) : form();
    }
    return {};
}

/// The sizes that the operands of an elementwise operator broadcast to.
size_forms index_forms::result_sizes(graph_node const& n) {
    size_forms out = sizes_of(r_.shape_of(n.outputs[0]));
    std::vector<size_forms> operands;
    for (value_id id : n.inputs)
        if (id != no_value) operands.push_back(sizes_of(id));
    for (std::size_t i = 0; i != out.size(); ++i) {
        if (out[i]) continue;
        std::optional<scalar_form> size(scalar_form{1});
        for (size_forms const& s : operands) {
            if (s.size() + i < out.size()) continue;
            std::optional<scalar_form> const& own = s[s.size() + i - out.size()];
            if (!own || !size) size.reset();
            else if (*size == scalar_form{1}) size = own;
            else if (*own != scalar_form{1} && *own != *size) size.reset();
        }
        out[i] = size;
    }
    return out;
}

form index_forms::broadcast(value_id id, size_forms const& to) {
    linear_form const* const f = of(id);
    if (f == nullptr || f->steps.size() > to.size()) return {};
    std::size_t const added = to.size() - f->steps.size();
    linear_form out = uniform_form(f->origin, to);
    for (std::size_t i = 0; i != f->steps.size(); ++i) {
        if (f->steps[i] != 0 && (!f->sizes[i] || f->sizes[i] != to[i + added])) return {};
        out.steps[i + added] = f->steps[i];
    }
    return out;
}

form index_forms::difference(value_id a, value_id b, size_forms const& to) {
    form const x = broadcast(a, to);
    form const y = broadcast(b, to);
    return x && y ? add_multiple(*x, *y, -1) : form();
}

form index_forms::sum(graph_node const& n, std::int64_t factor) {
    size_forms const to = result_sizes(n);
    form const x = broadcast(n.inputs[0], to);
    form const y = broadcast(input(n, 1), to);
    return x && y ? add_multiple(*x, *y, factor) : form();
}

form index_forms::product(graph_node const& n) {
    size_forms const to = result_sizes(n);
    for (std::size_t i = 0; i != 2; ++i) {
        std::optional<std::int64_t> const factor = number(input(n, i));
        form const x = factor ? broadcast(input(n, 1 - i), to) : form();
        if (x) return add_multiple(uniform_form({}, to), *x, *factor);
    }
    return {};
}

form index_forms::comparison(graph_node const& n) {
    if (r_.type(n.inputs[0]).dtype != dtype::int64) return {};
    size_forms const to = result_sizes(n);
    bool const reversed = n.op == "Greater" || n.op == "GreaterOrEqual";
    form const d = reversed ? difference(input(n, 1), n.inputs[0], to) : difference(n.inputs[0], input(n, 1), to);
    if (!d) return {};
    auto const truth = [&](bool is_true) { return uniform_form({is_true ? 1 : 0}, to); };
    std::optional<std::int64_t> const low = minimum(*d);
    std::optional<std::int64_t> const high = maximum(*d);
    if (n.op == "Equal") {
        if (std::optional<std::int64_t> const same = d->number(); same) return truth(*same == 0);
        if ((low && *low > 0) || (high && *high < 0)) return truth(false);
        return {};
    }
    std::int64_t const limit = n.op == "Less" || n.op == "Greater" ? -1 : 0; // true up to this difference
    if (high && *high <= limit) return truth(true);
    if (low && *low > limit) return truth(false);
    return {};
}

form index_forms::logic(graph_node const& n) {
    size_forms const to = result_sizes(n);
    auto const truth = [&](bool is_true) { return uniform_form({is_true ? 1 : 0}, to); };
    std::optional<std::int64_t> const a = number(n.inputs[0]);
    if (n.op == "Not") return a ? form(truth(*a == 0)) : form();
    if (n.op == "Cast") {
        if (r_.type(n.outputs[0]).dtype == dtype::int64) return broadcast(n.inputs[0], to);
        return a ? form(truth(*a != 0)) : form();
    }
    std::optional<std::int64_t> const b = number(input(n, 1));
    std::int64_t const decisive = n.op == "And" ? 0 : 1;
    if ((a && *a == decisive) || (b && *b == decisive)) return truth(decisive == 1);
    return a && b ? form(truth(decisive == 0)) : form();
}

form index_forms::chosen(graph_node const& n) {
    size_forms const to = result_sizes(n);
    std::optional<std::int64_t> const condition = number(n.inputs[0]);
    if (condition) return broadcast(input(n, *condition != 0 ? 1 : 2), to);
    form const x = broadcast(input(n, 1), to);
    form const y = broadcast(input(n, 2), to);
    return x && y && x->same_as(*y) ? x : form();
}

form index_forms::range(graph_node const& n) {
    linear_form const* const start = of(n.inputs[0]);
    linear_form const* const end = of(input(n, 1));
    std::optional<std::int64_t> const step = number(input(n, 2));
    if (start == nullptr || !step || !start->steps.empty() || !is_coefficient(*step)) return {};
    linear_form out{start->origin, {*step}, {std::nullopt}};
    std::optional<scalar_form> const count =
        end != nullptr && *step == 1 ? add_multiple(end->origin, start->origin, -1) : std::nullopt;
    std::optional<std::int64_t> const least = count ? minimum(uniform_form(*count, {})) : std::nullopt;
    if (!least || *least < 0) return out;
    out.sizes[0] = count;
    bool const is_symbol = count->constant == 0 && count->terms.size() == 1 && count->terms[0].second == 1;
    if (is_symbol && start->number() == 0) positions_.try_emplace(count->terms[0].first.index, n.outputs[0]);
    return out;
}

value_id index_forms::positions(dim const& size, graph_node const& like) {
    if (size.is_static()) {
        if (size.size() > max_constant_elements) return no_value;
        std::vector<std::int64_t> all;
        for (std::int64_t i = 0; i != size.size(); ++i) all.push_back(i);
        return r_.add_integers(all);
    }
    auto const symbol = r_.sizes().symbol_of(size);
    if (!symbol || r_.graph().opset < 11) return no_value;
    if (auto const known = positions_.find(*symbol); known != positions_.end() && r_.is_alive(known->second))
        return known->second;
    value_id const end = r_.sizes().size_value(*symbol, 0, like);
    if (end == no_value) return no_value;
    value_id const zero = r_.add_constant(scalar_tensor(std::int64_t{0}, dtype::int64));
    value_id const one = r_.add_constant(scalar_tensor(std::int64_t{1}, dtype::int64));
    graph_node n = make_node("Range", {zero, end, one}, like);
    value_id const made = r_.add_node(std::move(n), {dtype::int64, shape(std::vector<dim>{size})});
    positions_.insert_or_assign(*symbol, made);
    return made;
}

} // namespace ATON_NAMESPACE::passes
