// SPDX-License-Identifier: MIT
// Exceptions while a graph is built: refusals of a mapping, and calls that the target opset does not allow.
// Public header.
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include <aton/version.hpp>

namespace ATON_NAMESPACE {

/// The maximum length of a message. Names, strings and lists come from files and can have any length.
inline constexpr std::size_t max_message = 500;

/// The text on one line, with its middle replaced by " ... " if it is longer than `limit` bytes. UTF-8 characters are not split.
template <class = void>
std::string clipped(std::string text, std::size_t limit) {
    for (char& c : text)
        if (c == '\x7f' || (c >= 0 && c < ' ')) c = ' ';
    if (text.size() <= limit) return text;
    auto const is_inside = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U; };
    std::size_t const kept = limit < 5 ? 0 : limit - 5;
    std::size_t front = kept - kept / 3;
    std::size_t back = text.size() - kept / 3;
    while (front != 0 && is_inside(front)) --front;
    while (back != text.size() && is_inside(back)) ++back;
    return text.replace(front, back - front, " ... ");
}

/// The base of Aton's exceptions. what() is one line of at most max_message bytes that says what is wrong, where, and what to do.
class error : public std::exception {
public:
    /// An error with this message, on one line and cut to `max_message`.
    explicit error(std::string message) : message_(clipped(std::move(message), max_message)) {}
    /// The message.
    [[nodiscard]] char const* what() const noexcept override { return message_.c_str(); }

private:
    std::string message_;
};

/// The base of refusals: a call that is not converted. The graph may contain unused nodes of it.
class refused : public error {
public:
    /// what() is the reason.
    explicit refused(std::string reason) : error(std::move(reason)) {}
    /// what() is "subject: reason", where the subject is the refused call: "aten::foo (opset 20)".
    refused(std::string_view subject, std::string_view reason)
        : error(std::string(subject) + ": " + std::string(reason)),
          subject_(subject.size()) {}

    /// The refused call as far as the thrower knew it, or empty.
    [[nodiscard]] std::string_view subject() const { return std::string_view(what()).substr(0, subject_); }
    /// The message without the subject.
    [[nodiscard]] std::string_view reason() const {
        std::string_view const all = what();
        return subject_ == 0 || subject_ + 2 > all.size() ? all : all.substr(subject_ + 2);
    }

private:
    std::size_t subject_ = 0;
};

/// A mapping cannot express this call (`g.unsupported(...)`), or no row supports the value of an argument.
class unsupported_error : public refused {
public:
    using refused::refused;
};

/// A row leaves the call to the row below it (`return g.next();`); a refusal where there is none.
class declined : public unsupported_error {
public:
    using unsupported_error::unsupported_error;
};

/// A call of an ONNX operator is illegal at the target opset.
class illegal_call : public refused {
public:
    using refused::refused;
};

} // namespace ATON_NAMESPACE
