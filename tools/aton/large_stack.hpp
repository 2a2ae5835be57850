// SPDX-License-Identifier: MIT
// A thread whose stack is as deep as the readers of files expect, whatever stack the caller of the library has.
#pragma once

#include <functional>

namespace aton::tool {

class large_stack_thread {
public:
    /// Runs `work`, which must not throw. Signals of the process are not delivered to this thread. Throws aton::error if the system has no more
    /// threads.
    explicit large_stack_thread(std::function<void()> work);
    large_stack_thread(large_stack_thread const&) = delete;
    large_stack_thread& operator=(large_stack_thread const&) = delete;
    /// Waits until the work is done.
    ~large_stack_thread();

private:
    std::function<void()> work_;
    void* thread_ = nullptr;
};

} // namespace aton::tool
