// SPDX-License-Identifier: MIT
// Reads arbitrary bytes as a TorchScript archive: as a whole one if they start like a ZIP file, as its data.pkl if they start like a
// pickle, and otherwise as the code of a module with a parameter `w`, a buffer `b` and the attributes `n` = 7 and `items` = [1, 2].
// Every operator has a result of its first argument's type, so that all of the interpreter runs without mappings.
#include <aton/frontend/torchscript/read_program.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../frontend/program_holds.hpp"
#include "../frontend/torchscript_archive.hpp"
#include "fuzz_check.hpp"

using namespace aton::tests;
using namespace std::string_literals;
namespace program = aton::program;
namespace torchscript = aton::torchscript;

namespace {

std::string const object = module_pickle("X\5\0\0\0items](K\1K\2e"s);
constexpr std::string_view plain_code =
    "class M(Module):\n  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n"
    "    return torch.mul(x, self.w)\n";

std::string archive(std::string_view code, std::string_view data) {
    return torchscript_archive(code, data).add("m/version", "3\n").finish();
}

/// A file in memory, which has a path.
class memory_file {
public:
    explicit memory_file(std::string_view bytes) : descriptor_(::memfd_create("fuzz.pt", 0)) {
        require(descriptor_ >= 0);
        require(::write(descriptor_, bytes.data(), bytes.size()) == static_cast<::ssize_t>(bytes.size()));
    }
    memory_file(memory_file const&) = delete;
    memory_file& operator=(memory_file const&) = delete;
    ~memory_file() { ::close(descriptor_); }
    [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

private:
    int descriptor_;
};

torchscript::read_options options() {
    torchscript::read_options out;
    out.inputs = {{"x", aton::dtype::float32, {"batch", 3}}};
    out.infer = [](program::program const& p, program::node const& n, torchscript::known_elements const*) {
        torchscript::inferred_type type{aton::dtype::float32, true, {}, {}};
        if (!n.arguments.empty() && n.arguments[0].kind == program::argument_kind::tensor) {
            program::value const& first = p.values[n.arguments[0].tensor];
            type.type = first.type;
            for (program::extent const& e : first.sizes) type.sizes.emplace_back(e);
        }
        return std::vector<torchscript::inferred_result>{{{type}, false}};
    };
    return out;
}

} // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const bytes = text_of(data, size);
    std::string const made = bytes.starts_with("PK")     ? std::string(bytes)
                             : bytes.starts_with('\x80') ? archive(plain_code, bytes)
                                                         : archive(bytes, object);
    memory_file const file(made);
    expect_answer([&] {
        program::program p = torchscript::read_program(file.path(), options());
        for (program::value& v : p.values)
            if (v.strides.empty())
                v.strides.resize(v.sizes.size(), {1, program::extent::none}); // archives do not record them
        require(holds(p));
        for (program::node const& n : p.main.nodes) require(!describe(p, n).empty());
        for (program::expression const& e : p.expressions) require(!to_string(e).empty());
    });
    return 0;
}
