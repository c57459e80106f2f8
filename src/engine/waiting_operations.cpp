// An engine's operations on suspensions, waitpoints and signals: ids and tokens around the store's part.
#include <algorithm>

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "base/text/hex.hpp"
#include "base/text/hmac.hpp"
#include "base/try.hpp"
#include "core/refusals.hpp"
#include "core/suspensions/suspension_id.hpp"
#include "engine/local_engine.hpp"

namespace ff {
namespace {

const WaitpointInfo* find_in(const SuspensionReply& suspension, const WaitpointId& id) {
  const auto found = std::ranges::find(suspension.waitpoints, id, &WaitpointInfo::id);
  return found == suspension.waitpoints.end() ? nullptr : &*found;
}

bool is_open(const WaitpointInfo& waitpoint, TimePoint now) {
  return waitpoint.state != WaitpointState::closed &&
         !(waitpoint.expires_at && *waitpoint.expires_at <= now);
}

// How far the condition of the newest suspension is, if the waitpoint is bound to it.
std::string progress_of(const SuspensionReply& reply, const WaitpointId& waitpoint) {
  if (!reply.suspension) return {};
  const auto& bound = reply.suspension->waitpoints;
  const bool is_bound = std::ranges::find(bound, waitpoint, &WaitpointInfo::id) != bound.end();
  return is_bound ? reply.suspension->progress : std::string{};
}

// The one answer to every bad token.
std::unexpected<Error> unknown_token() {
  return fail(Errc::waitpoint_not_found,
              "this token opens no waitpoint; ask for a new link or token");
}
std::unexpected<Error> waitpoint_over() {
  return fail(Errc::waitpoint_closed, "this waitpoint is closed and takes no more answers");
}

// Of the holder of a token: a person, or whoever has the only token.
SignalSource source_of(const core::WaitpointClaims& claims) {
  if (claims.approver) return {.type = "approver", .identity = *claims.approver};
  return {.type = "token", .identity = claims.waitpoint.str()};
}

// A token answers once.
SignalKey answer_key(const core::WaitpointClaims& claims) {
  auto text = "answer:" + claims.waitpoint.str();
  // A name may be too long for a key, or hold blanks, which keys may not.
  if (claims.approver) text += ':' + hex_encode(hmac_sha256("", *claims.approver));
  return *SignalKey::parse(text);
}

// Whether the waitpoint asks the holder of the token. Its id may have been used before, for other people.
bool is_asked(const WaitpointInfo& waitpoint, const core::WaitpointClaims& claims) {
  static const std::vector<std::string> nobody;
  const auto& approvers = waitpoint.question ? waitpoint.question->approvers : nobody;
  if (!claims.approver) return approvers.empty();
  return std::ranges::find(approvers, *claims.approver) != approvers.end();
}

Result<void> is_choice(const WaitpointInfo& waitpoint, const SignalName& signal) {
  if (!waitpoint.question || waitpoint.question->choices.empty()) return {};
  std::string names;
  for (const auto& choice : waitpoint.question->choices) {
    if (choice.signal == signal) return {};
    names += (names.empty() ? "" : ", ") + choice.signal.str();
  }
  return fail_field(Errc::invalid_input, "signal",
                    fmt::format("signal must be one of the choices: {}", names));
}

}  // namespace

template <class Id>
void LocalEngine::mint_if_absent(std::optional<Id>& id) {
  if (!id) id = Id{make_uuid(store_->now(), *options_.random)};
}

// ---- Suspending ---------------------------------------------------------------------------------

Async<void> LocalEngine::add_tokens(const ExecutionId& id, std::span<IssuedWaitpoint> waitpoints) {
  if (waitpoints.empty()) co_return Result<void>{};
  const auto execution = co_await store_->run(GetExecution{id});
  FF_CO_TRY(execution);
  for (auto& waitpoint : waitpoints) {
    core::WaitpointClaims claims{.ns = execution->ns,
                                 .execution = id,
                                 .waitpoint = waitpoint.info.id,
                                 .expires_at = waitpoint.info.expires_at};
    std::vector<std::optional<std::string>> holders;
    if (waitpoint.info.question)
      holders.assign(waitpoint.info.question->approvers.begin(),
                     waitpoint.info.question->approvers.end());
    if (holders.empty()) holders.emplace_back();
    for (auto& holder : holders) {
      claims.approver = holder;
      auto token = co_await waitpoint_keys_.mint(claims);
      FF_CO_TRY(token);
      waitpoint.tokens.push_back({.approver = std::move(holder), .token = std::move(*token)});
    }
  }
  co_return Result<void>{};
}

Async<SuspendReply> LocalEngine::handle(Suspend operation) {
  if (!operation.suspension_id) operation.suspension_id = core::suspension_id_of(operation);
  for (auto& waitpoint : operation.waitpoints) mint_if_absent(waitpoint.id);
  const auto id = operation.id;
  auto reply = co_await store_->run(std::move(operation));
  if (!reply) co_return reply;
  FF_CO_TRY(co_await add_tokens(id, reply->waitpoints));
  co_return reply;
}

Async<CreateWaitpointReply> LocalEngine::handle(CreateWaitpoint operation) {
  mint_if_absent(operation.waitpoint.id);
  const auto id = operation.id;
  auto reply = co_await store_->run(std::move(operation));
  if (!reply) co_return reply;
  FF_CO_TRY(co_await add_tokens(id, {&reply->waitpoint, 1}));
  co_return reply;
}

Async<WaitpointList> LocalEngine::handle(ListWaitpoints operation) {
  auto suspension = co_await store_->run(GetSuspension{operation.id});
  FF_CO_TRY(suspension);
  std::erase_if(suspension->waitpoints, [now = store_->now()](const WaitpointInfo& waitpoint) {
    return !is_open(waitpoint, now);
  });
  auto& open = suspension->waitpoints;
  auto first = open.begin();
  if (operation.cursor) {
    const auto last = std::ranges::find_if(
        open, [&](const WaitpointInfo& each) { return each.id.str() == *operation.cursor; });
    if (last == open.end())
      co_return fail_field(Errc::invalid_input, "cursor",
                           "cursor is not of this list, or the waitpoint has been closed since; "
                           "begin anew");
    first = last + 1;
  }
  WaitpointList list;
  const auto rest = static_cast<std::size_t>(open.end() - first);
  list.waitpoints.assign(
      first, first + static_cast<std::ptrdiff_t>(std::min<std::size_t>(rest, operation.limit)));
  if (list.waitpoints.size() < rest) list.next = list.waitpoints.back().id.str();
  co_return list;
}

Async<IssuedWaitpoint> LocalEngine::handle(GetWaitpointTokens operation) {
  const auto suspension = co_await store_->run(GetSuspension{operation.id});
  FF_CO_TRY(suspension);
  const auto* waitpoint = find_in(*suspension, operation.waitpoint);
  if (!waitpoint) co_return core::refusals::waitpoint_not_found(operation.waitpoint.str());
  if (!is_open(*waitpoint, store_->now()))
    co_return core::refusals::waitpoint_closed(operation.waitpoint.str());
  IssuedWaitpoint issued{.info = *waitpoint};
  FF_CO_TRY(co_await add_tokens(operation.id, {&issued, 1}));
  co_return issued;
}

// ---- Signals ------------------------------------------------------------------------------------

Async<SignalReply> LocalEngine::handle(SendSignal operation) {
  mint_if_absent(operation.signal_id);
  co_return co_await store_->run(std::move(operation));
}

Async<DeliveredSignal> LocalEngine::handle(DeliverSignal operation) {
  const auto suspension = co_await store_->run(GetSuspension{operation.id});
  FF_CO_TRY(suspension);
  const auto* waitpoint = find_in(*suspension, operation.waitpoint);
  if (operation.token.find(':') != std::string::npos) {
    if (!waitpoint) co_return fail(Errc::invalid_token, "the waitpoint token is not valid");
    const auto ring = co_await store_->run(core::ReadKeyRing{});
    FF_CO_TRY(ring);
    FF_CO_TRY(core::verify_contract_token(
        *ring, operation.token,
        {.id = waitpoint->id.str(),
         .key = waitpoint->key.str(),
         .created_at_ms = waitpoint->created_at.time_since_epoch().count()},
        store_->now()));
  } else {
    const auto claims = co_await waitpoint_keys_.verify(operation.token);
    FF_CO_TRY(claims);
    if (claims->execution != operation.id || claims->waitpoint != operation.waitpoint ||
        !waitpoint || !is_asked(*waitpoint, *claims))
      co_return fail(Errc::invalid_token, "the waitpoint token is not valid");
    if (claims->approver) {  // one person, one vote, whatever the sender says
      FF_CO_TRY(is_choice(*waitpoint, operation.name));
      operation.source = source_of(*claims);
      operation.idempotency_key = answer_key(*claims);
      operation.dedup_window = limits::duration_max;
    }
  }
  SendSignal signal{.id = operation.id,
                    .name = std::move(operation.name),
                    .waitpoint = operation.waitpoint,
                    .signal_id = operation.signal_id,
                    .payload = std::move(operation.payload),
                    .source = std::move(operation.source),
                    .category = std::move(operation.category),
                    .correlation_id = std::move(operation.correlation_id),
                    .idempotency_key = std::move(operation.idempotency_key),
                    .dedup_window = operation.dedup_window};
  auto reply = co_await store_->run(std::move(signal));
  FF_CO_TRY(reply);
  co_return DeliveredSignal{std::move(*reply)};
}

// ---- For outsiders ------------------------------------------------------------------------------

// Everything that a token opens. A token that is not valid, and one whose execution is gone, look alike.
Async<LocalEngine::OpenedByToken> LocalEngine::open_with(std::string token) {
  auto claims = co_await waitpoint_keys_.verify(std::move(token));
  if (!claims && claims.error().code == Errc::invalid_token) co_return unknown_token();
  if (!claims && claims.error().code == Errc::token_expired) co_return waitpoint_over();
  FF_CO_TRY(claims);
  const auto execution = co_await store_->run(GetExecution{claims->execution});
  if (!execution && execution.error().code == Errc::execution_not_found) co_return unknown_token();
  FF_CO_TRY(execution);
  if (execution->ns != claims->ns) co_return unknown_token();
  const auto suspension = co_await store_->run(GetSuspension{claims->execution});
  FF_CO_TRY(suspension);
  OpenedByToken opened{.claims = std::move(*claims)};
  const auto* waitpoint = find_in(*suspension, opened.claims.waitpoint);
  if (!waitpoint || !is_asked(*waitpoint, opened.claims)) co_return opened;
  opened.waitpoint = *waitpoint;
  opened.progress = progress_of(*suspension, waitpoint->id);
  co_return opened;
}

// The answer that a token has given, if it has.
Async<std::optional<core::FoundSignal>> LocalEngine::answer_of(
    const core::WaitpointClaims& claims) {
  // Not inside the co_await: g++ 12 destroys the key twice there.
  core::FindSignal query{.id = claims.execution, .key = answer_key(claims)};
  co_return co_await store_->run(std::move(query));
}

Async<WaitpointView> LocalEngine::handle(ReadWaitpoint operation) {
  auto opened = co_await open_with(std::move(operation.token));
  FF_CO_TRY(opened);
  const auto answer = co_await answer_of(opened->claims);
  FF_CO_TRY(answer);
  auto& waitpoint = opened->waitpoint;
  const bool open = waitpoint && is_open(*waitpoint, store_->now());
  if (!open && !*answer) co_return waitpoint_over();
  WaitpointView view{.state = open ? waitpoint->state : WaitpointState::closed,
                     .approver = opened->claims.approver,
                     .progress = std::move(opened->progress)};
  if (*answer) view.answer = (*answer)->name;
  if (!waitpoint) co_return view;
  view.question = std::move(waitpoint->question);
  view.answers = waitpoint->signals;
  view.expires_at = waitpoint->expires_at;
  if (view.question) view.question->approvers.clear();
  co_return view;
}

// The reply to a token that has answered before.
Async<AnswerReply> LocalEngine::repeat_answer(const OpenedByToken& opened, SignalName name) {
  const auto before = co_await answer_of(opened.claims);
  FF_CO_TRY(before);
  if (!*before) co_return waitpoint_over();
  if ((*before)->name != name)
    co_return fail(Errc::waitpoint_answered,
                   fmt::format("this token has answered '{}' before; an answer cannot be changed",
                               (*before)->name.str()));
  co_return AnswerReply{
      .effect = (*before)->effect, .duplicate = true, .progress = opened.progress};
}

Async<AnswerReply> LocalEngine::handle(AnswerWaitpoint operation) {
  const auto opened = co_await open_with(operation.token);
  FF_CO_TRY(opened);
  // It belongs to an earlier suspension.
  if (!opened->waitpoint) co_return co_await repeat_answer(*opened, operation.signal);
  FF_CO_TRY(is_choice(*opened->waitpoint, operation.signal));
  if (operation.payload.empty() && !operation.comment.empty()) {
    operation.payload = boost::json::serialize(boost::json::value{{"comment", operation.comment}});
    operation.content_type = *ContentType::parse("application/json");
  }
  const auto name = operation.signal;
  SendSignal signal{.id = opened->claims.execution,
                    .name = std::move(operation.signal),
                    .waitpoint = opened->claims.waitpoint,
                    .payload = std::move(operation.payload),
                    .content_type = std::move(operation.content_type),
                    .source = source_of(opened->claims),
                    .category = "approval",
                    .idempotency_key = answer_key(opened->claims),
                    .dedup_window = limits::duration_max};
  auto sent = co_await handle(std::move(signal));
  if (!sent && sent.error().code == Errc::target_not_signalable) co_return waitpoint_over();
  FF_CO_TRY(sent);
  if (sent->duplicate) co_return co_await repeat_answer(*opened, name);
  const auto after = co_await store_->run(GetSuspension{opened->claims.execution});
  AnswerReply reply{.effect = sent->effect};
  if (after) reply.progress = progress_of(*after, opened->claims.waitpoint);
  co_return reply;
}

}  // namespace ff
