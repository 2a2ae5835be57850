// SPDX-License-Identifier: MIT
// Interprets programs on integers with ATen's memory semantics: views share memory, in-place operators write to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <aton/program/program.hpp>

#include "program_builder.hpp"

namespace ATON_NAMESPACE::program {

struct strided {
    std::shared_ptr<numbers> memory;
    numbers sizes;
    numbers strides;
    std::int64_t offset = 0;

    static strided zeros(numbers sizes) {
        strided out;
        out.strides = contiguous_strides(sizes);
        out.sizes = std::move(sizes);
        out.memory = std::make_shared<numbers>(out.count());
        return out;
    }
    [[nodiscard]] std::size_t count() const {
        return static_cast<std::size_t>(
            std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, [](auto a, auto b) { return a * b; }));
    }
    /// The offset of the i-th element in row-major order.
    [[nodiscard]] std::int64_t position(std::size_t i) const {
        std::int64_t out = offset;
        auto left = static_cast<std::int64_t>(i);
        for (std::size_t d = sizes.size(); d-- > 0; left /= sizes[d]) out += left % sizes[d] * strides[d];
        return out;
    }
    [[nodiscard]] std::int64_t& at(std::size_t i) const { return (*memory)[static_cast<std::size_t>(position(i))]; }
    [[nodiscard]] numbers elements() const {
        numbers out(count());
        for (std::size_t i = 0; i != out.size(); ++i) out[i] = at(i);
        return out;
    }
    [[nodiscard]] strided copy() const {
        strided out = zeros(sizes);
        *out.memory = elements();
        return out;
    }
    [[nodiscard]] std::size_t dimension(std::int64_t d, std::int64_t more = 0) const {
        return static_cast<std::size_t>(d < 0 ? d + static_cast<std::int64_t>(sizes.size()) + more : d);
    }
};

class interpreter {
public:
    void set(value_index v, strided t) {
        objects_[v] = v;
        tensors_[v] = std::move(t);
    }
    [[nodiscard]] strided const& get(value_index v) const { return tensors_.at(objects_.at(v)); }

    void run(graph const& g) {
        for (node const& each : g.nodes) run(each);
    }
    void run(node const& n) {
        std::vector<strided> made = results_of(n);
        std::size_t i = 0;
        for (result const& r : n.results)
            for (value_index v : r.values) bind(n, v, made.at(i++));
    }

    /// Sets the value of the result, which for an in-place operator is its argument.
    void bind(node const& n, value_index v, strided t) {
        if (is_in_place(n)) objects_[v] = objects_.at(argument_of(n, "self").tensor);
        else set(v, std::move(t));
    }

    /// Computes the result of a node; in-place operators write.
    std::vector<strided> results_of(node const& n) {
        if (auto views = view_list(n); !views.empty()) return views;
        strided const self = of(n, n.op == "aten::cat" ? "" : "self");
        std::string const& op = n.op;
        if (op.ends_with("_scatter")) return {scatter(n, self)};
        if (op == "aten::cat") return {cat(n)};
        if (op == "aten::add.Tensor") return {add(self.copy(), of(n, "other"))};
        if (op == "aten::add_.Tensor") return {add(self, of(n, "other"))};
        if (op == "aten::mul.Scalar") return {mul(self.copy(), number(n, "other", 0))};
        if (op == "aten::mul_.Scalar") return {mul(self, number(n, "other", 0))};
        if (op == "aten::fill.Scalar") return {fill(self.copy(), number(n, "value", 0))};
        if (op == "aten::fill_.Scalar" || op == "aten::zero_") return {fill(self, number(n, "value", 0))};
        if (op == "aten::copy_") return {assign(self, of(n, "src").copy())};
        if (op == "aten::copy") return {assign(self.copy(), of(n, "src"))};
        if (op == "aten::clone") return {self.copy()};
        strided const view = view_of(n, self);
        if (is_in_place(n)) tensors_.at(objects_.at(argument_of(n, "self").tensor)) = view;
        return {view};
    }

private:
    static bool is_in_place(node const& n) { return n.op.substr(0, n.op.find('.')).ends_with('_'); }
    static argument const* find(node const& n, std::string const& name) {
        for (argument const& a : n.arguments)
            if (a.name == name) return &a;
        return nullptr;
    }
    strided of(node const& n, std::string const& name) {
        argument const* const a = find(n, name);
        if (a == nullptr) return strided::zeros({});
        return get(a->tensor);
    }
    static std::int64_t number(node const& n, std::string const& name, std::int64_t otherwise) {
        argument const* const a = find(n, name);
        return a == nullptr ? otherwise : integer_of(*a).value_or(otherwise);
    }
    static numbers list(node const& n, std::string const& name) { return integers_of(argument_of(n, name)); }

    static strided add(strided to, strided const& other) {
        numbers const more = expanded(other, to.sizes).elements();
        for (std::size_t i = 0; i != to.count(); ++i) to.at(i) = (to.at(i) + more[i]) % 1'000'003;
        return to;
    }
    static strided mul(strided to, std::int64_t by) {
        for (std::size_t i = 0; i != to.count(); ++i) to.at(i) = to.at(i) * by % 1'000'003;
        return to;
    }
    static strided fill(strided to, std::int64_t by) {
        for (std::size_t i = 0; i != to.count(); ++i) to.at(i) = by;
        return to;
    }
    static strided assign(strided to, strided const& from) {
        strided const all = expanded(from, to.sizes);
        for (std::size_t i = 0; i != to.count(); ++i) to.at(i) = all.at(i);
        return to;
    }
    static strided expanded(strided t, numbers const& sizes) {
        while (t.sizes.size() < sizes.size()) {
            t.sizes.insert(t.sizes.begin(), 1);
            t.strides.insert(t.strides.begin(), 0);
        }
        for (std::size_t i = 0; i != sizes.size(); ++i) {
            if (t.sizes[i] == sizes[i] || sizes[i] < 0) continue;
            if (t.sizes[i] != 1) throw std::logic_error("expand");
            t.sizes[i] = sizes[i];
            t.strides[i] = 0;
        }
        return t;
    }

    strided scatter(node const& n, strided const& self) {
        strided const whole = self.copy();
        node view = n;
        std::string const name = n.op.substr(6, n.op.size() - 14);
        view.op = "aten::" + name + (name == "select" ? ".int" : name == "slice" ? ".Tensor" : "");
        assign(view_of(view, whole), of(n, "src"));
        return whole;
    }
    strided cat(node const& n) {
        std::vector<strided> parts;
        for (value_index v : argument_of(n, "tensors").tensors) parts.push_back(get(v));
        std::size_t const d = parts.front().dimension(number(n, "dim", 0));
        strided whole = parts.front();
        for (std::size_t i = 1; i != parts.size(); ++i) whole.sizes[d] += parts[i].sizes[d];
        whole = strided::zeros(whole.sizes);
        std::int64_t at = 0;
        for (strided const& each : parts) {
            assign(sliced(whole, d, at, at + each.sizes[d], 1), each);
            at += each.sizes[d];
        }
        return whole;
    }

    static strided sliced(strided t, std::size_t d, std::int64_t start, std::int64_t end, std::int64_t step) {
        std::int64_t const size = t.sizes[d];
        auto const inside = [size](std::int64_t i) {
            return i < 0 ? std::max(i + size, std::int64_t{0}) : std::min(i, size);
        };
        start = inside(start);
        end = std::max(inside(end), start);
        t.offset += start * t.strides[d];
        t.sizes[d] = (end - start + step - 1) / step;
        t.strides[d] *= step;
        return t;
    }
    static strided reshaped(strided const& t, numbers sizes) {
        auto const total = static_cast<std::int64_t>(t.count());
        std::int64_t known = 1;
        for (std::int64_t s : sizes) known *= s < 0 ? 1 : s;
        for (std::int64_t& s : sizes)
            if (s < 0) s = total / known;
        // A view, if the addresses of the elements are linear in the new indices.
        strided out = t;
        out.sizes = sizes;
        out.strides.assign(sizes.size(), 0);
        std::size_t apart = 1;
        for (std::size_t i = sizes.size(); i-- > 0;) {
            if (sizes[i] > 1 && total != 0) out.strides[i] = t.position(apart) - t.position(0);
            apart *= static_cast<std::size_t>(sizes[i]);
        }
        for (std::size_t i = 0; i != t.count(); ++i)
            if (out.position(i) != t.position(i)) return copied(t, sizes);
        return out;
    }
    static strided copied(strided const& t, numbers const& sizes) {
        strided out = t.copy();
        out.sizes = sizes;
        out.strides = contiguous_strides(sizes);
        return out;
    }

    strided view_of(node const& n, strided t) {
        std::string op = n.op.substr(6, n.op.find('.') - 6);
        if (op.ends_with('_')) op.pop_back();
        if (op == "detach" || op == "alias") return t;
        if (op == "reshape" || op == "view") return reshaped(t, list(n, op == "view" ? "size" : "shape"));
        if (op == "reshape_as") return reshaped(t, of(n, "other").sizes);
        if (op == "expand") return expanded(t, list(n, "size"));
        if (op == "permute") return permuted(t, list(n, "dims"));
        if (op == "flatten") {
            std::size_t const first = t.dimension(number(n, "start_dim", 0));
            std::size_t const last = t.dimension(number(n, "end_dim", -1));
            numbers sizes = t.sizes;
            for (std::size_t i = first; i != last; ++i) {
                sizes[first] *= sizes[first + 1];
                sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(first) + 1);
            }
            return reshaped(t, sizes);
        }
        if (op == "t" || op == "transpose") {
            std::size_t const a = op == "t" ? 0 : t.dimension(number(n, "dim0", 0));
            std::size_t const b = op == "t" ? 1 : t.dimension(number(n, "dim1", 0));
            std::swap(t.sizes.at(a), t.sizes.at(b));
            std::swap(t.strides.at(a), t.strides.at(b));
            return t;
        }
        if (op == "movedim") {
            std::size_t const from = t.dimension(number(n, "source", 0));
            std::size_t const to = t.dimension(number(n, "destination", 0));
            numbers order(t.sizes.size());
            std::iota(order.begin(), order.end(), 0);
            order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
            order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), static_cast<std::int64_t>(from));
            return permuted(t, order);
        }
        if (op == "diagonal") return diagonal(n, t);
        std::size_t const d = t.dimension(number(n, "dim", 0), op == "unsqueeze" ? 1 : 0);
        auto const place = static_cast<std::ptrdiff_t>(d);
        if (op == "unsqueeze") {
            t.sizes.insert(t.sizes.begin() + place, 1);
            t.strides.insert(t.strides.begin() + place, 1);
            return t;
        }
        if (op == "slice") {
            return sliced(t, d, number(n, "start", 0), number(n, "end", INT64_MAX), number(n, "step", 1));
        }
        if (op == "narrow") {
            std::int64_t start = number(n, "start", 0);
            if (start < 0) start += t.sizes[d];
            return sliced(t, d, start, start + number(n, "length", 0), 1);
        }
        if (op != "select" && op != "squeeze") throw std::logic_error("the interpreter has no " + n.op);
        if (op == "squeeze" && t.sizes.at(d) != 1) return t;
        std::int64_t const index = op == "select" ? number(n, "index", 0) : 0;
        t.offset += (index < 0 ? index + t.sizes.at(d) : index) * t.strides.at(d);
        t.sizes.erase(t.sizes.begin() + place);
        t.strides.erase(t.strides.begin() + place);
        return t;
    }
    static strided permuted(strided const& t, numbers const& order) {
        strided out = t;
        for (std::size_t i = 0; i != order.size(); ++i) {
            out.sizes[i] = t.sizes.at(t.dimension(order[i]));
            out.strides[i] = t.strides.at(t.dimension(order[i]));
        }
        return out;
    }
    static strided diagonal(node const& n, strided t) {
        std::size_t const a = t.dimension(number(n, "dim1", 0));
        std::size_t const b = t.dimension(number(n, "dim2", 1));
        std::int64_t const shift = number(n, "offset", 0);
        std::int64_t const rows = t.sizes[a] + std::min(shift, std::int64_t{0});
        std::int64_t const columns = t.sizes[b] - std::max(shift, std::int64_t{0});
        std::int64_t const length = std::max(std::min(rows, columns), std::int64_t{0});
        if (length != 0) t.offset += shift >= 0 ? shift * t.strides[b] : -shift * t.strides[a];
        std::int64_t const stride = t.strides[a] + t.strides[b];
        for (std::size_t d : {std::max(a, b), std::min(a, b)}) {
            t.sizes.erase(t.sizes.begin() + static_cast<std::ptrdiff_t>(d));
            t.strides.erase(t.strides.begin() + static_cast<std::ptrdiff_t>(d));
        }
        t.sizes.push_back(length);
        t.strides.push_back(stride);
        return t;
    }

    std::vector<strided> view_list(node const& n) {
        std::vector<strided> out;
        bool const split = n.op == "aten::split.Tensor";
        if (!split && n.op != "aten::chunk" && n.op != "aten::unbind.int") return out;
        strided const t = of(n, "self");
        std::size_t const d = t.dimension(number(n, "dim", 0));
        std::int64_t const size = t.sizes[d];
        std::int64_t const chunks = number(n, "chunks", 1);
        std::int64_t const step = split                   ? number(n, "split_size", 1)
                                  : n.op == "aten::chunk" ? (size + chunks - 1) / chunks
                                                          : 1;
        for (std::int64_t at = 0; at < size; at += step) out.push_back(sliced(t, d, at, at + step, 1));
        if (n.op != "aten::unbind.int") return out;
        for (strided& each : out) {
            each.sizes.erase(each.sizes.begin() + static_cast<std::ptrdiff_t>(d));
            each.strides.erase(each.strides.begin() + static_cast<std::ptrdiff_t>(d));
        }
        return out;
    }

    std::map<value_index, strided> tensors_;     ///< by object
    std::map<value_index, value_index> objects_; ///< several values may be the same tensor
};

} // namespace ATON_NAMESPACE::program
