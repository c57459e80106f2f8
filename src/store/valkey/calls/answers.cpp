#include "store/valkey/calls/answers.hpp"

#include <fmt/format.h>

#include "base/text/utf8.hpp"
#include "base/try.hpp"
#include "store/valkey/calls/fields.hpp"
#include "store/valkey/keys.hpp"

namespace ff::valkey_store {

bool mentions(const ReplyError& error, std::string_view text) {
  return error.text.find(text) != std::string::npos;
}

std::unexpected<Error> server_error(const ReplyError& error) {
  if (error.text.starts_with("OOM"))
    return fail(Errc::store_unavailable,
                "Valkey has reached its maxmemory, so nothing was written; raise maxmemory, or let "
                "ended executions go earlier (retention)");
  if (error.text.starts_with("MISCONF") || error.text.starts_with("READONLY"))
    return fail(Errc::store_not_writable,
                fmt::format("Valkey does not take writes: {}", printable(error.text)));
  // It is loaded again by whoever finds it missing.
  if (mentions(error, "Function not found") || mentions(error, "killed by user"))
    return fail(Errc::store_unavailable,
                fmt::format("Valkey did not run the function: {}", printable(error.text)));
  return fail(Errc::internal, fmt::format("Valkey reports: {}", printable(error.text)));
}

bool is_unreachable(const Error& error) {
  return error.code == Errc::store_unavailable || error.code == Errc::timed_out;
}

std::unexpected<Error> malformed(std::string_view what) {
  return fail(Errc::malformed_response,
              fmt::format("the answer of Valkey to {} is not what the function library gives; do "
                          "all programs on this Valkey have the same version?",
                          what));
}

Result<std::vector<Reply>> list_of(Result<Reply> reply) {
  FF_TRY(reply);
  if (const auto* error = reply->as_error()) return server_error(*error);
  auto* list = reply->as_array();
  if (!list || list->size() < 2 || !list->front().as_int() || !(*list)[1].as_text())
    return malformed("a function");
  return std::move(*list);
}

bool is_refusal(const std::vector<Reply>& list) { return *list.front().as_int() == 0; }

std::vector<Reply> without(std::vector<Reply> list, std::ptrdiff_t first) {
  list.erase(list.begin(), list.begin() + std::min(first, std::ssize(list)));
  return list;
}

std::string take_run(Result<std::vector<Reply>>& list) {
  if (!list) return {};
  auto run = text_in(list->back());
  list->pop_back();
  return run;
}

std::string text_in(const Reply& reply) {
  const auto* text = reply.as_text();
  return text ? *text : std::string{};
}

std::optional<std::pair<Namespace, LaneId>> parse_queue(std::string_view queue) {
  const auto separator = queue.find(keys::queue_separator);
  const bool named = separator != std::string_view::npos;
  auto ns = named ? Namespace::parse(std::string(queue.substr(0, separator))) : default_namespace();
  auto lane = LaneId::parse(std::string(named ? queue.substr(separator + 1) : queue));
  if (!ns || !lane) return std::nullopt;
  return std::pair{std::move(*ns), std::move(*lane)};
}

std::optional<PartitionIndex> parse_tag(std::string_view tag) {
  if (!tag.starts_with("{fp:") || !tag.ends_with('}')) return std::nullopt;
  return parse_number<PartitionIndex>(tag.substr(4, tag.size() - 5));
}
std::optional<PartitionIndex> parse_tag(const Reply& reply) {
  const auto* text = reply.as_text();
  return text ? parse_tag(std::string_view(*text)) : std::nullopt;
}

}  // namespace ff::valkey_store
