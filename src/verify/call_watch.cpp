// SPDX-License-Identifier: MIT
#include "call_watch.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include <aton/core/error.hpp>

#include "report_bytes.hpp"
#include "system/child_process.hpp"
#include "system/files.hpp"
#include "system/memory.hpp"

namespace ATON_NAMESPACE::verify {

struct call_watch::header {
    bool converts;
    bool runs;
    int opset;
    std::size_t place_size;
    std::size_t call_size;
    char place[1024];
};

namespace {

constexpr std::size_t memory_size = std::size_t{1} << 26; ///< of which only pages that are written to exist

} // namespace

call_watch* call_watch::current = nullptr;

call_watch::call_watch(int seconds) : seconds_(seconds) {
    void* const memory = system::allocate_shared(memory_size);
    if (memory == nullptr) throw error("memory for a process: " + system::message_of(errno));
    head_ = new (memory) header{};
}

call_watch::~call_watch() { system::release_shared(head_, memory_size); }

void call_watch::set_place(std::string_view place) {
    if (current == nullptr) return;
    header& to = *current->head_;
    to.place_size = std::min(place.size(), sizeof to.place);
    std::memcpy(to.place, place.data(), to.place_size);
}

void call_watch::begin(sample const& s, int opset) const {
    std::string const bytes = to_bytes(s);
    head_->opset = opset;
    head_->call_size = bytes.size() > memory_size - sizeof(header) ? 0 : bytes.size();
    std::memcpy(head_ + 1, bytes.data(), head_->call_size);
    head_->converts = true;
    system::limit_time(seconds_);
}

void call_watch::begin_run() const {
    head_->runs = true;
    system::limit_time(seconds_ * run_factor);
}

void call_watch::end() const {
    system::limit_time(0);
    head_->converts = false;
    head_->runs = false;
}

call_watch::noted call_watch::last() const {
    noted out;
    out.converts = head_->converts;
    out.runs = head_->runs;
    out.opset = head_->opset;
    out.place.assign(head_->place, std::min(head_->place_size, sizeof head_->place));
    if (head_->call_size != 0)
        out.call =
            sample_of({reinterpret_cast<char const*>(head_ + 1), head_->call_size}); // NOLINT(*-reinterpret-cast)
    return out;
}

} // namespace ATON_NAMESPACE::verify
