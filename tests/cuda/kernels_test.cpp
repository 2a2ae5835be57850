// SPDX-License-Identifier: MIT
// Compares every kernel of the GPU with that of the CPU, which tests/runtime compares with plain loops and recorded
// ATen: every function and dtype, several layouts, and sizes that do not fill a tile.
//
// Exits with 77, which ctest reports as skipped, if there is no GPU.
#define DOCTEST_CONFIG_IMPLEMENT
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "runtime/kernels/elementwise.hpp"
#include <aton/core/error.hpp>
#include <aton/runtime/cuda.hpp>

#include "../faults.hpp"
#include "../runtime/layouts.hpp"
#include "compare_devices.hpp"

namespace ATON_NAMESPACE::runtime {

using tests::contains;
using tests::elements;
using tests::fault_of;
using tests::filled;

TEST_CASE("differences between the devices are noticed") {
    auto const on_gpu = [](device_kernels const& k) { return &k == &gpu(); };
    tensor const x = small(dtype::float32, {3, 5});
    auto const changed = [&](device_kernels const& k, tensor const& v) {
        return k.unary(on_gpu(k) ? unary_op::abs : unary_op::neg, v);
    };
    CHECK(compared(changed, 0, x) == "element 0 is 4.000000, not -4.000000");
    auto const refused = [&](device_kernels const& k, tensor const& v) {
        return k.reduce(on_gpu(k) ? reduce_op::any : reduce_op::sum, v, std::vector<std::size_t>{0});
    };
    CHECK(contains(compared(refused, 0, x), "the GPU refuses: "));
}

TEST_CASE("tensors are copied to the GPU and back, whatever their views") {
    for (dtype const t : numbers)
        for (tensor const& x : tests::layouts(hostile(t, {3, 5, 7}))) CHECK(difference(there(x), x, 0) == "");
    CHECK(gpu().to_host(gpu().from_host(tensor::empty(dtype::float32, {0, 3}))).sizes() == sizes{0, 3});
    CHECK(gpu().memory().where() == device{device_kind::cuda, 0});
    CHECK(!cuda_description().empty());
}

TEST_CASE("functions of one number") {
    for (dtype const t : numbers)
        for (std::size_t op = 0; op != static_cast<std::size_t>(unary_op::count_); ++op) {
            CAPTURE(std::string(name(t)));
            CAPTURE(op);
            auto const f = [&](device_kernels const& k, tensor const& x) {
                return k.unary(static_cast<unary_op>(op), x);
            };
            double const error = kernels::is_special(static_cast<unary_op>(op)) ? 50 * error_of(t) : error_of(t);
            CHECK(compared(f, error, hostile(t, {1031})) == "");
            CHECK(compared(f, error, tests::scattered(hostile(t, {3, 1, 5}))) == "");
        }
}

TEST_CASE("functions of two numbers") {
    for (dtype const t : numbers)
        for (std::size_t op = 0; op != static_cast<std::size_t>(binary_op::count_); ++op) {
            CAPTURE(std::string(name(t)));
            CAPTURE(op);
            auto const f = [&](device_kernels const& k, tensor const& x, tensor const& y) {
                return k.binary(static_cast<binary_op>(op), x, y);
            };
            double const error = kernels::is_special(static_cast<binary_op>(op)) ? 50 * error_of(t) : error_of(t);
            tensor const positive =
                cpu().unary(unary_op::abs, t == dtype::bool_ ? hostile(dtype::int32, {517}) : hostile(t, {517}, 3));
            tensor const left = hostile(t, {517});
            CHECK(compared(f, error, left, t == dtype::bool_ ? hostile(t, {517}, 3) : positive) == "");
            CHECK(compared(f, error, tests::scattered(hostile(t, {4, 1, 3})), hostile(t, {5, 1}, 2)) == "");
        }
}

TEST_CASE("operands that are repeated along the innermost dimension, or contiguous along it") {
    auto const f = [](device_kernels const& k, tensor const& x, tensor const& y) {
        return k.binary(binary_op::sub, x, y);
    };
    for (dtype const t : {dtype::float16, dtype::float32, dtype::float64, dtype::int8, dtype::int64}) {
        CAPTURE(std::string(name(t)));
        for (sizes const& other : std::vector<sizes>{{1}, {24}, {8, 1}, {3, 1, 24}, {3, 1, 1}, {1, 8, 24}}) {
            CAPTURE(to_string(other));
            CHECK(compared(f, 0, small(t, {3, 8, 24}), small(t, other, 2)) == "");
            CHECK(compared(f, 0, small(t, other, 2), small(t, {3, 8, 24})) == "");
        }
        tensor const wide = small(t, {700, 12}, 3);
        for (std::int64_t const first : {0, 1, 4}) // vectors, then neither
            for (std::int64_t const count : {4, 8, 7})
                CHECK(compared(f, 0, wide.sliced(1, first, count), small(t, {count}, 2)) == "");
    }
}

TEST_CASE("transposes whose sizes do not fill a tile") {
    for (dtype const t : {dtype::bool_, dtype::float16, dtype::float32, dtype::int64, dtype::complex128})
        for (auto const& c : std::vector<std::pair<sizes, std::vector<std::size_t>>>{{{37, 70}, {1, 0}},
                                                                                     {{3, 37, 70}, {0, 2, 1}},
                                                                                     {{33, 2, 40}, {2, 0, 1}},
                                                                                     {{9, 5, 8}, {2, 1, 0}},
                                                                                     {{2, 9, 3, 64}, {0, 3, 2, 1}}}) {
            CAPTURE(std::string(name(t)));
            CAPTURE(to_string(c.first));
            auto const f = [&, by = c.second](device_kernels const& k, tensor const& x) {
                return k.contiguous(x.permuted(by));
            };
            CHECK(compared(f, 0, cpu().cast(hostile(dtype::float32, c.first), t)) == "");
        }
}

TEST_CASE("casts, copies and selections") {
    constexpr std::array more = {dtype::float8_e4m3fn, dtype::float8_e5m2fnuz, dtype::int4, dtype::complex64};
    auto const all = [&](auto const& f) {
        for (dtype const t : numbers) f(t);
        for (dtype const t : more) f(t);
    };
    all([&](dtype from) {
        tensor const x = cpu().cast(hostile(from == dtype::complex64 ? dtype::float32 : numbers[0], {0}), from);
        CHECK(x.count() == 0);
        tensor const some = cpu().cast(hostile(dtype::float32, {259}), from);
        all([&](dtype to) {
            CAPTURE(std::string(name(from)));
            CAPTURE(std::string(name(to)));
            auto const f = [&](device_kernels const& k, tensor const& v) { return k.cast(v, to); };
            CHECK(compared(f, 0, some) == "");
        });
        auto const copied = [](device_kernels const& k, tensor const& v) { return k.contiguous(v); };
        CHECK(compared(copied, 0, tests::scattered(cpu().cast(hostile(dtype::float32, {5, 3, 7}), from))) == "");
        auto const chosen = [](device_kernels const& k, tensor const& c, tensor const& yes, tensor const& no) {
            return k.select(c, yes, no);
        };
        tensor const yes = cpu().cast(hostile(dtype::float32, {4, 6}, 2), from);
        CHECK(compared(chosen,
                       0,
                       hostile(dtype::bool_, {3, 4, 6}),
                       yes,
                       cpu().cast(hostile(dtype::float32, {3, 1, 1}, 5), from)) == "");
    });
}

TEST_CASE("more elements than a grid of small tiles, with every number of dimensions") {
    tensor const x = hostile(dtype::float32, {2, 3, 2, 5, 3, 7, 2, 11});
    std::vector<std::size_t> const turned{7, 0, 5, 2, 1, 6, 3, 4};
    auto const f = [&](device_kernels const& k, tensor const& v) { return k.contiguous(v.permuted(turned)); };
    CHECK(compared(f, 0, x) == "");
}

TEST_CASE("reductions with few and many results, over any axes") {
    struct reduced_case {
        sizes of;
        std::vector<std::size_t> axes;
    };
    std::vector<reduced_case> const cases{{{70001}, {0}},
                                          {{3, 5003}, {1}},
                                          {{5003, 3}, {0}},
                                          {{37, 4, 50}, {0, 2}},
                                          {{300, 7}, {1}},
                                          {{4, 600, 33}, {1}},
                                          {{5, 1024}, {1}}, // vectors
                                          {{3, 0, 2}, {1}},
                                          {{0, 3}, {1}},
                                          {{2, 3}, {}},
                                          {{}, {}}};
    for (dtype const t : numbers)
        for (reduced_case const& c : cases) {
            bool const is_large = count_of(c.of) > 20000;
            if (is_large && t != dtype::float32 && t != dtype::int64 && t != dtype::float16)
                continue; // the same code as below
            for (std::size_t op = 0; op != static_cast<std::size_t>(reduce_op::count_); ++op) {
                CAPTURE(std::string(name(t)));
                CAPTURE(op);
                CAPTURE(to_string(c.of));
                auto const which = static_cast<reduce_op>(op);
                auto const f = [&](device_kernels const& k, tensor const& x) { return k.reduce(which, x, c.axes); };
                bool const is_sum = which == reduce_op::sum || which == reduce_op::prod;
                CHECK(compared(f, error_of(t), is_sum ? small(t, c.of) : hostile(t, c.of)) == "");
                if (!is_large && !c.of.empty())
                    CHECK(compared(f, error_of(t), tests::scattered(is_sum ? small(t, c.of) : hostile(t, c.of))) == "");
            }
        }
}

TEST_CASE("indices of the first and last maximum and minimum") {
    for (dtype const t : numbers)
        for (auto const& c :
             std::vector<std::pair<sizes, std::size_t>>{{{9001}, 0}, {{7, 300}, 1}, {{300, 7}, 0}, {{5, 9, 4}, 1}})
            for (reduce_op const op : {reduce_op::max, reduce_op::min})
                for (bool const last : {false, true}) {
                    CAPTURE(std::string(name(t)));
                    CAPTURE(to_string(c.first));
                    auto const f = [&, at = c.second](device_kernels const& k, tensor const& x) {
                        return k.arg_reduce(op, x, at, last);
                    };
                    CHECK(compared(f, 0, hostile(t, c.first)) == "");
                    CHECK(compared(f, 0, small(t, c.first)) == "");
                }
}

TEST_CASE("reductions with a warp per result") {
    tensor const x = hostile(dtype::float32, {8193, 37});
    auto const sum = [](device_kernels const& k, tensor const& v) {
        return k.reduce(reduce_op::sum, v, std::vector<std::size_t>{1});
    };
    auto const place = [](device_kernels const& k, tensor const& v) {
        return k.arg_reduce(reduce_op::max, v, 1, true);
    };
    CHECK(compared(sum, error_of(dtype::float32), small(dtype::float32, {8193, 37})) == "");
    CHECK(compared(place, 0, x) == "");
}

TEST_CASE("the index of NaN is that of the minimum and of the maximum") {
    for (dtype const t : {dtype::float16, dtype::bfloat16, dtype::float32, dtype::float64}) {
        CAPTURE(std::string(name(t)));
        double const nan = std::numeric_limits<double>::quiet_NaN();
        double const inf = std::numeric_limits<double>::infinity();
        double const numbers_of[] = {1, 0, inf, nan, -inf, nan, -0.0};
        tensor const x =
            cpu().cast(filled<double>(dtype::float64, {7}, [&](std::int64_t i) { return numbers_of[i]; }), t);
        for (reduce_op const op : {reduce_op::max, reduce_op::min})
            for (bool const last : {false, true})
                CHECK(gpu().to_host(gpu().arg_reduce(op, there(x), 0, last)).item() == scalar(last ? 5 : 3));
    }
}

TEST_CASE("scans: long lines, many lines, adjacent lines") {
    for (dtype const t : numbers)
        for (auto const& c : std::vector<std::pair<sizes, std::size_t>>{{{9001}, 0},
                                                                        {{3, 700}, 1},
                                                                        {{3, 1030}, 1},
                                                                        {{11, 391}, 1},
                                                                        {{2, 92}, 1},
                                                                        {{700, 3}, 0},
                                                                        {{5, 9, 4}, 1},
                                                                        {{4, 0}, 1}})
            for (std::size_t op = 0; op != static_cast<std::size_t>(scan_op::count_); ++op) {
                CAPTURE(std::string(name(t)));
                CAPTURE(op);
                CAPTURE(to_string(c.first));
                auto const which = static_cast<scan_op>(op);
                bool const is_order = which == scan_op::max || which == scan_op::min;
                auto const f = [&, at = c.second](device_kernels const& k, tensor const& x) {
                    return k.scan(which, x, at);
                };
                CHECK(compared(f, error_of(t), is_order ? hostile(t, c.first) : small(t, c.first)) == "");
            }
}

TEST_CASE("a scan of many lines that are longer than what a warp reads at once") {
    auto const f = [](device_kernels const& k, tensor const& x) { return k.scan(scan_op::sum, x, 1); };
    CHECK(compared(f, error_of(dtype::float32), small(dtype::float32, {4100, 517})) == "");
}

TEST_CASE("sorting is stable, and NaN is greater than every number") {
    for (dtype const t : numbers)
        for (auto const& c :
             std::vector<std::pair<sizes, std::size_t>>{{{1, 2003}, 1}, {{7, 60}, 1}, {{60, 7}, 0}, {{0}, 0}})
            for (bool const descending : {false, true}) {
                CAPTURE(std::string(name(t)));
                auto const values = [&, at = c.second](device_kernels const& k, tensor const& x) {
                    return k.sort(x, at, descending).values;
                };
                auto const indices = [&, at = c.second](device_kernels const& k, tensor const& x) {
                    return k.sort(x, at, descending).indices;
                };
                CHECK(compared(values, 0, hostile(t, c.first)) == "");
                CHECK(compared(indices, 0, hostile(t, c.first)) == "");
            }
}

TEST_CASE("softmax along any axis") {
    for (dtype const t : {dtype::float16, dtype::bfloat16, dtype::float32, dtype::float64, dtype::int32})
        for (auto const& c : std::vector<std::pair<sizes, std::size_t>>{{{5, 1001}, 1},
                                                                        {{5, 1004}, 1},
                                                                        {{11, 104}, 1},
                                                                        {{70, 9}, 1},
                                                                        {{2, 5003}, 1},
                                                                        {{3, 5008}, 1},
                                                                        {{2, 8200}, 1},
                                                                        {{4, 300, 5}, 1},
                                                                        {{3, 0}, 1},
                                                                        {{6}, 0}})
            for (bool const logarithm : {false, true}) {
                CAPTURE(std::string(name(t)));
                CAPTURE(to_string(c.first));
                auto const f = [&, at = c.second](device_kernels const& k, tensor const& x) {
                    return k.softmax(x, at, logarithm);
                };
                CHECK(compared(f, 2 * error_of(t), small(t, c.first)) == "");
                CHECK(compared(f, 2 * error_of(t), hostile(t, c.first)) == "");
            }
}

TEST_CASE("matrix products in every layout") {
    auto const f = [](device_kernels const& k, tensor const& a, tensor const& b) { return k.matmul(a, b); };
    for (dtype const t : numbers) {
        CAPTURE(std::string(name(t)));
        double const error = 10 * error_of(t);
        CHECK(compared(f, error, small(t, {70, 33}), small(t, {33, 129}, 2)) == "");
        CHECK(compared(f, error, small(t, {3, 1, 5, 18}), small(t, {2, 18, 7}, 2)) == "");
        CHECK(compared(f,
                       error,
                       tests::first_innermost(small(t, {19, 34})),
                       tests::first_innermost(small(t, {34, 65}, 3))) == "");
        CHECK(compared(f, error, tests::scattered(small(t, {6, 4, 9})), small(t, {9, 1}, 3)) == "");
        CHECK(compared(f, error, small(t, {4, 0}), small(t, {0, 3})) == "");
        CHECK(compared(f, error, small(t, {0, 4}), small(t, {4, 3})) == "");
    }
}

TEST_CASE("gather and scatter") {
    constexpr std::int64_t count = 60;
    tensor const positions = filled<std::int64_t>(dtype::int64, {7, 41}, [](std::int64_t i) { return i * i % count; });
    tensor const apart = filled<std::int64_t>(dtype::int64, {30}, [](std::int64_t i) { return i * 7 % count; });
    // At most three times: the order of more factors decides whether float16 overflows.
    tensor const few = filled<std::int64_t>(dtype::int64, {5, 29}, [](std::int64_t i) { return i * 7 % count; });
    for (dtype const t : numbers) {
        CAPTURE(std::string(name(t)));
        auto const taken = [](device_kernels const& k, tensor const& x, tensor const& at) { return k.take(x, at); };
        CHECK(compared(taken, 0, hostile(t, {5, 12}), positions) == "");
        CHECK(compared(taken, 0, tests::scattered(hostile(t, {5, 12})), tests::scattered(positions)) == "");
        for (std::size_t op = 0; op != static_cast<std::size_t>(put_op::count_); ++op) {
            CAPTURE(op);
            auto const which = static_cast<put_op>(op);
            auto const put = [&](device_kernels const& k, tensor const& x, tensor const& at, tensor const& values) {
                tensor const into = tensor::empty(x.dtype(), x.sizes(), k.memory());
                k.copy(x, into);
                k.put(into, at, values, which);
                return into;
            };
            bool const repeats = which != put_op::assign; // with duplicate positions, any of the values may remain
            bool const is_order = which == put_op::max || which == put_op::min;
            tensor const at = which == put_op::mul ? few : repeats ? positions : apart;
            CHECK(compared(put,
                           4 * error_of(t),
                           is_order ? hostile(t, {5, 12}) : small(t, {5, 12}),
                           at,
                           is_order ? hostile(t, at.sizes(), 4) : small(t, at.sizes(), 4)) == "");
        }
        CHECK(compared([](device_kernels const& k, tensor const& x) { return k.nonzero(x); },
                       0,
                       cpu().cast(hostile(t, {9, 57}), dtype::bool_)) == "");
    }
    CHECK(contains(fault_of([&] { return gpu().take(there(apart), there(positions)); }), "out of range"));
    CHECK(gpu().nonzero(there(tensor::empty(dtype::bool_, {0}))).count() == 0);
}

TEST_CASE("ranges and random numbers") {
    CHECK(difference(gpu().range(1031), cpu().range(1031), 0) == "");
    CHECK(gpu().range(0).count() == 0);
    for (std::int64_t const count : {1, 6, 1031})
        CHECK(difference(gpu().random_bits(count, 0x123456789abcdefULL),
                         cpu().random_bits(count, 0x123456789abcdefULL),
                         0) == "");
}

TEST_CASE("errors of the GPU are reported") {
    tensor const here = small(dtype::float32, {4});
    CHECK(contains(fault_of([&] { return gpu().unary(unary_op::neg, here); }),
                   "a tensor on cpu was passed to the kernels of cuda:0"));
    CHECK(contains(fault_of([&] { return cpu().binary(binary_op::add, here, there(here)); }),
                   "a tensor on cuda:0 was passed to the kernels of cpu"));
    CHECK(contains(
        fault_of([&] { return tensor::empty(dtype::float64, {std::int64_t{1} << 39U}, gpu().memory()).count(); }),
        "does not fit into the memory of cuda:0"));
    CHECK(&kernels_of({device_kind::cuda, 0}) == &gpu());
    CHECK(contains(fault_of([] { return kernels_of({device_kind::cuda, 1}).range(1); }),
                   "the device does not exist: cuda:1"));
}

TEST_CASE("freed memory is allocated again") {
    constexpr std::int64_t gigabyte = std::int64_t{1} << 30U;
    for (int i = 0; i != 400; ++i) CHECK(tensor::empty(dtype::uint8, {gigabyte}, gpu().memory()).count() == gigabyte);
    cuda_wait();
}

} // namespace ATON_NAMESPACE::runtime

int main(int argc, char** argv) {
    try {
        (void)aton::runtime::cuda_kernels();
    } catch (aton::error const& e) {
        std::printf("skipped: %s\n", e.what());
        return 77;
    }
    return doctest::Context(argc, argv).run();
}
