#include "valkey/network/connection.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/assert.hpp"
#include "base/try.hpp"
#include "valkey/network/backoff.hpp"
#include "valkey/network/open_stream.hpp"

namespace ff::valkey {
namespace {

constexpr std::size_t batch_bytes_max = 1024 * 1024;
constexpr Millis reconnect_min{50};
constexpr Millis reconnect_max{2000};

const std::vector<std::string> asking{"ASKING"};

constexpr std::string_view in_doubt = "the request may or may not have been carried out";

// Waiting does not help against these: someone has to change a setting.
bool is_hopeless(const Error& error) {
  return error.code == Errc::unauthenticated || error.code == Errc::invalid_input;
}

}  // namespace

Result<std::shared_ptr<Stream>> ConnectionContext::make_stream(const Endpoint& endpoint) const {
  if (std::holds_alternative<UnixEndpoint>(endpoint))
    return std::make_shared<Stream>(executor, nullptr);
  FF_TRY(tls);
  return std::make_shared<Stream>(executor, *tls);
}

Connection::Connection(std::shared_ptr<ConnectionContext> context, std::vector<Endpoint> endpoints,
                       Owner& owner)
    : context_(std::move(context)),
      endpoints_(std::move(endpoints)),
      owner_(owner),
      timer_(context_->executor) {
  FF_ASSERT(!endpoints_.empty());
}

void Connection::add(Call call) {
  FF_ASSERT(!stopped_);
  calls_.push_back(std::move(call));
  if (std::exchange(started_, true)) return;
  lost_at_ = Steady::now();
  context_->coroutines.spawn(context_->executor,
                             [self = shared_from_this()] { return self->run(); });
}

void Connection::flush() {
  if (!ready_ || writing_ || written_ == calls_.size()) return;
  const auto now = Steady::now();
  batch_.clear();
  for (; written_ < calls_.size() && batch_.bytes() < batch_bytes_max; ++written_) {
    auto& call = calls_[written_];
    call.written_at = now;
    if (call.asking) batch_.add(asking);
    batch_.add(call.request.command);
  }
  writing_ = true;
  stream_->write(batch_.buffers(), [self = shared_from_this()](error_code failed) {
    if (failed) self->reconnect(failed.message());
    self->on_written();
  });
}

void Connection::on_written() {
  writing_ = false;
  kept_.clear();
  if (ready_)
    flush();
  else
    timer_.cancel();  // run() waits for this
}

bool Connection::is_down() const {
  const auto since = Steady::now() - silence_max;
  if (ready_) return written_ > 0 && calls_.front().written_at <= since;
  return started_ && (unreachable_ || lost_at_ <= since);
}

Error Connection::down() const {
  return {Errc::store_unavailable,
          fmt::format("Valkey at {} is down ({}); the client goes on trying", to_text(endpoint()),
                      problem_.empty() ? "it does not answer" : problem_)};
}

std::vector<Call> Connection::take_waiting() {
  const auto first = calls_.begin() + static_cast<std::ptrdiff_t>(written_);
  std::vector<Call> waiting(std::make_move_iterator(first), std::make_move_iterator(calls_.end()));
  calls_.erase(first, calls_.end());
  return waiting;
}

void Connection::sweep(Steady::time_point now) {
  if (is_down())
    for (auto i = written_; i < calls_.size(); ++i)
      if (calls_[i].request.patience != Patience::full) calls_[i].answer(std::unexpected(down()));
  for (std::size_t i = 0; i < calls_.size(); ++i)
    if (now >= calls_[i].deadline)
      calls_[i].answer(std::unexpected(too_late(calls_[i], i < written_)));
  // Those on their way keep their place: their answers may still come.
  const auto first = calls_.begin() + static_cast<std::ptrdiff_t>(written_);
  calls_.erase(std::remove_if(first, calls_.end(), [](const Call& call) { return !call.done; }),
               calls_.end());
  const auto limit = context_->options.request_timeout;
  if (written_ > 0 && now - calls_.front().written_at >= limit) {
    unreachable_ = true;
    reconnect(fmt::format("no answer for {} ms", limit.count()));
  }
}

Error Connection::too_late(const Call& call, bool is_written) const {
  const auto limit = context_->options.request_timeout.count();
  auto message =
      ready_ ? fmt::format("Valkey at {} did not answer within {} ms", to_text(endpoint()), limit)
             : fmt::format(
                   "Valkey at {} could not be reached within {} ms ({}); the client goes on trying",
                   to_text(endpoint()), limit, problem_.empty() ? "not yet connected" : problem_);
  if (is_written || call.was_written()) message += fmt::format("; {}", in_doubt);
  return {ready_ ? Errc::timed_out : Errc::store_unavailable, std::move(message)};
}

void Connection::reconnect(std::string why) {
  if (!ready_) return;
  ready_ = false;  // nothing is written to it any more
  problem_ = std::move(why);
  stream_->close();
}

void Connection::leave(std::string why) {
  leaving_ = ready_;
  reconnect(std::move(why));
}

void Connection::stop(const Error& error) {
  stopped_ = true;
  ready_ = false;
  timer_.cancel();
  if (stream_) stream_->close();
  // The calls stay, without those who wait: their commands may be being written.
  for (auto& call : calls_) call.answer(std::unexpected(error));
}

asio::awaitable<void> Connection::run() {
  while (!stopped_) {
    const Result<void> opened = co_await open();
    if (stopped_) break;
    if (!opened) {
      on_failed_to_open(opened.error());
      co_await pause(pause_after(failures_++, reconnect_min, reconnect_max));
      continue;
    }
    on_open();
    std::string why = co_await read_answers();
    ready_ = false;
    stream_->close();
    while (writing_) co_await pause(Millis::max());
    if (stopped_) break;
    if (problem_.empty()) problem_ = std::move(why);
    settle_written(problem_);
    // At once, unless the last time was no good either.
    if (failures_++ > 0) co_await pause(pause_after(failures_, reconnect_min, reconnect_max));
  }
}

asio::awaitable<Result<void>> Connection::open() {
  auto made = context_->make_stream(endpoint());
  FF_CO_TRY(made);
  stream_ = std::move(*made);
  co_return co_await open_stream(*stream_, endpoint(), context_->options);
}

void Connection::on_open() {
  ready_ = true;
  unreachable_ = false;
  opened_at_ = Steady::now();
  problem_.clear();
  outage_.note_end(endpoint());
  flush();
}

void Connection::on_failed_to_open(const Error& error) {
  outage_.note(endpoint(), error.message);
  problem_ = error.message;
  unreachable_ = true;
  const bool hopeless = is_hopeless(error);
  const Error refused =
      hopeless ? error
               : Error{Errc::store_unavailable, fmt::format("no connection to Valkey at {}: {}",
                                                            to_text(endpoint()), error.message)};
  for (auto& call : calls_)
    if (hopeless || call.once || call.request.patience != Patience::full)
      call.answer(std::unexpected(refused));
  std::erase_if(calls_, [](const Call& call) { return !call.done; });
  use_next_endpoint();
  owner_.on_lost(*this);
}

// Calls that are safe to repeat are sent again, before all others; the rest fail.
void Connection::settle_written(const std::string& why) {
  outage_.note(endpoint(), why);
  lost_at_ = Steady::now();
  const Error lost{
      Errc::store_unavailable,
      fmt::format("the connection to Valkey at {} was lost ({}) before the answer came; {}",
                  to_text(endpoint()), why, in_doubt)};
  for (; written_ > 0; --written_) {
    auto& call = calls_[written_ - 1];
    if (call.once || call.request.repeat == Repeat::unsafe) call.answer(std::unexpected(lost));
  }
  std::erase_if(calls_, [](const Call& call) { return !call.done; });
  if (std::exchange(leaving_, false)) use_next_endpoint();
  owner_.on_lost(*this);
}

asio::awaitable<void> Connection::pause(Millis time) {
  error_code ignored;
  if (time == Millis::max())
    timer_.expires_at(Steady::time_point::max());
  else
    timer_.expires_after(time);
  co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

asio::awaitable<std::string> Connection::read_answers() {
  ReplyReader reader;
  while (true) {
    const Stream::Received received = co_await stream_->read();
    if (stopped_ || !ready_) co_return "closed";
    if (received.failed) co_return received.failed.message();
    for (auto rest = received.bytes; !rest.empty();) {
      const auto part = rest.substr(0, ReplyReader::feed_bytes_best);
      rest.remove_prefix(part.size());
      reader.feed(part);
      std::string problem;
      if (!take_answers(reader, problem)) co_return problem;
    }
  }
}

// False, and why, if the connection is of no use any more.
bool Connection::take_answers(ReplyReader& reader, std::string& problem) {
  while (true) {
    auto reply = reader.next();
    if (!reply) {
      problem = "it sent " + reply.error().message;
      return false;
    }
    if (!*reply) return true;
    if (written_ == 0) {
      problem = "it sent an answer that nobody asked for";
      return false;
    }
    take_answer(std::move(**reply));
    if (!ready_) {  // whoever got the answer found that this is not the right server
      problem = problem_;
      return false;
    }
  }
}

void Connection::take_answer(Reply reply) {
  auto& front = calls_.front();
  if (std::exchange(front.asking, false)) return;  // the answer to ASKING
  Call call = std::move(front);
  calls_.pop_front();
  --written_;
  failures_ = 0;
  if (writing_) {  // buffers of the write that is under way may point into the command
    auto command = std::move(call.request.command);
    if (reply.as_error()) call.request.command = command;  // it may be sent again
    kept_.push_back(std::move(command));
  }
  owner_.on_answer(*this, std::move(call), std::move(reply));
}

}  // namespace ff::valkey
