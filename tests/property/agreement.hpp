// Comparing what the engine says with what the model says, in words.
#pragma once

#include <flowfabric/operations.hpp>

#include <string>

#include <fmt/format.h>

#include "tests/property/model.hpp"

namespace ff::property {

// Fails the sequence that is being tried, by an exception.
[[noreturn]] void disagree(const std::string& text);

inline void expect(bool holds, const std::string& text) {
  if (!holds) disagree(text);
}

std::string show(TimePoint time);
std::string show(const Fence& fence);
std::string show(const SubmitReply& reply);
std::string show(const RenewReply& reply);
std::string show(const Done& reply);
std::string show(const EndReply& reply);
std::string show(const FailReply& reply);
std::string show(const RevokeReply& reply);
std::string show(const PriorityReply& reply);
std::string show(const TagsReply& reply);
std::string show(const GrantedExecution& reply);
std::string show(const ClaimedExecution& reply);
std::string show(const ExecutionInfo& info);

template <class Reply>
std::string show(const Result<Reply>& result) {
  return result ? show(*result)
                : fmt::format("{} ({})", result.error().name(), result.error().message);
}
template <class Reply>
std::string show(const Predicted<Reply>& predicted) {
  return predicted ? show(*predicted) : std::string(info(predicted.error()).name);
}

template <class Reply>
void expect_same(std::string_view what, const Result<Reply>& actual,
                 const Predicted<Reply>& predicted) {
  const bool same = actual ? predicted && *actual == *predicted
                           : !predicted && actual.error().code == predicted.error();
  if (!same)
    disagree(fmt::format("{}:\n  engine {}\n  model  {}", what, show(actual), show(predicted)));
}

}  // namespace ff::property
