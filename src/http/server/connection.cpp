#include "http/server/connection.hpp"

#include <flowfabric/limits.hpp>

#include <array>
#include <ctime>

#include <fmt/chrono.h>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/beast/http/error.hpp>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "base/text/utf8.hpp"
#include "base/try.hpp"
#include "base/version.hpp"
#include "http/server/access/request_origin.hpp"
#include "http/server/streams/event_stream.hpp"
#include "http/server/streams/flow_frame_stream.hpp"
#include "http/server/streams/frame_stream.hpp"

namespace ff::http {

using tcp = asio::ip::tcp;

namespace {

constexpr std::uint32_t header_bytes_max = 16 * 1024;
constexpr std::uint64_t drain_bytes_max = 64 * 1024 * 1024;
constexpr std::chrono::seconds drain_timeout{5};
constexpr std::chrono::seconds handshake_timeout{10};
constexpr std::chrono::milliseconds cancel_again{100};
constexpr std::size_t request_id_bytes_max = 128;
constexpr std::size_t sent_bytes_max = 64 * 1024;  // of events at a time; then a reader's turn ends

Error body_too_large(const Route& route) {
  return {Errc::payload_too_large,
          fmt::format("the request body is larger than {} bytes", route.body_bytes_max)};
}

Error too_many_wait(const Allowance& long_polls) {
  return {Errc::resource_exhausted,
          fmt::format("{} requests wait at this server already; try again in a moment",
                      long_polls.most())};
}

// The contract's words.
Error too_many_stream_ops(const Allowance& stream_ops) {
  return {Errc::resource_exhausted,
          fmt::format("too many concurrent stream_ops calls (server max: {}); retry with backoff",
                      stream_ops.most()),
          {{"pool", "stream_ops"}}};
}
Error stream_ops_closed() {
  return {Errc::overloaded,
          "stream_ops is closed: this server is shutting down; ask again in a moment",
          {{"pool", "stream_ops"}}};
}
Error too_many_tails(const Allowance& tails) {
  return {Errc::resource_exhausted,
          fmt::format("{} readers follow streams at this server already; try again in a moment, or "
                      "raise its limit (FF_MAX_TAILS)",
                      tails.most())};
}
Error too_many_tails(const KeyedAllowance& tails) {
  return {Errc::resource_exhausted,
          fmt::format("this token or ticket follows {} streams at this server already; end one of "
                      "them, or give readers tokens of their own (FF_MAX_TAILS_PER_TOKEN is a token's limit)",
                      tails.most())};
}

Error too_many_unread(const Allowance& bytes) {
  return {Errc::overloaded,
          fmt::format("readers of streams leave {} MiB unread at this server, which is the most; try again in a "
                      "moment, or ask for fewer frames",
                      bytes.most() / (1024 * 1024))};
}

// Whether a request waits for something: a plain read of a stream does not.
bool waits(const Route& route, const RequestFields& fields) {
  if (!route.is_tail) return route.may_wait;
  const auto* wait = fields.url.if_contains("wait_ms");
  return wait && wait->is_string() && wait->get_string().find_first_not_of('0') != std::string::npos;
}

// How to answer a request that could not be read; none if there is nobody to answer.
std::optional<Error> explain_unreadable(const error_code& failed, const Route* route) {
  using beast::http::error;
  if (failed == error::body_limit && route) return body_too_large(*route);
  if (failed == error::header_limit || failed == error::buffer_overflow)
    return Error{Errc::headers_too_large,
                 fmt::format("the request headers are larger than {} bytes", header_bytes_max)};
  if (failed == beast::error::timeout)
    return Error{Errc::request_timeout, "the request did not arrive in time"};
  const bool hung_up = failed == error::end_of_stream || failed == error::partial_message;
  if (failed == boost::system::errc::not_enough_memory)
    return Error{Errc::overloaded,
                 "the server is reading as much as it can; try again in a moment"};
  if (failed.category() == error_code(error::end_of_stream).category() && !hung_up)
    return Error{Errc::invalid_input, "this is not an HTTP/1.1 request: " + failed.message()};
  return std::nullopt;
}

template <class T>
asio::awaitable<void> set(T& answer, asio::awaitable<T> call) {
  answer = co_await std::move(call);
}

// Like Sun, 06 Nov 1994 08:49:37 GMT.
std::string http_date() {
  return fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", fmt::gmtime(std::time(nullptr)));
}

// The client's own, or a new one.
std::string request_id(std::string_view given) {
  const bool visible = std::ranges::all_of(given, [](char c) { return c > 0x20 && c < 0x7f; });
  if (!given.empty() && given.size() <= request_id_bytes_max && visible) return std::string(given);
  thread_local SystemRandom random;
  return make_uuid(SystemClock().now(), random).str();
}

template <class Stream, class Query>
Result<std::unique_ptr<SentEvents>> make_stream(Engine& engine, const RequestFields& fields) {
  auto query = from_fields<Query>(fields);
  FF_TRY(query);
  return std::make_unique<Stream>(engine, std::move(*query));
}

Result<std::unique_ptr<SentEvents>> sent_events(const Route& route, Engine& engine,
                                                const RequestFields& fields) {
  if (route.endpoint.path == endpoint<ReadStream>.path)
    return make_stream<FrameStream, ReadStream>(engine, fields);
  if (route.endpoint.path == endpoint<ReadFlowStream>.path)
    return make_stream<FlowFrameStream, ReadFlowStream>(engine, fields);
  return make_stream<EventStream, ReadEvents>(engine, fields);
}

// The field in which a query says where a stream goes on.
std::string_view place_field(const Route& route) {
  return route.endpoint.path == endpoint<ReadStream>.path ? "from" : "after";
}

}  // namespace

Connection::Connection(tcp::socket socket, ServerContext& context)
    : stream_(std::move(socket), context.credentials().tls),
      context_(context),
      timer_(strand(), deadline_) {}

asio::awaitable<void> Connection::serve() {
  allow(handshake_timeout);
  const auto failed = co_await stream_.accept_handshake();
  if (is_plain_http(failed)) co_await ask_for_tls();
  bool more = !failed;
  while (more && !closing_) more = co_await serve_one();
  allow_for_ever();
  timer_.cancel();
  error_code ignored;
  stream_.tcp().socket().shutdown(tcp::socket::shutdown_both, ignored);
}

asio::awaitable<void> Connection::ask_for_tls() {
  stream_.drop_tls();
  const Exchange exchange{.id = request_id(""), .began = SteadyClock::now()};
  const Error error{Errc::invalid_input, "this server speaks TLS; use https:// instead of http://"};
  co_await refuse(exchange, error);
}

asio::awaitable<void> Connection::turn_away() {
  allow(drain_timeout);
  const Error error{Errc::overloaded,
                    fmt::format("this server has its {} connections; try again in a moment",
                                context_.connections.most())};
  const Exchange exchange{.id = request_id(""), .began = SteadyClock::now()};
  if (!co_await stream_.accept_handshake()) co_await refuse(exchange, error);
  allow_for_ever();
  timer_.cancel();
}

void Connection::close(bool now) {
  asio::post(strand(), [self = shared_from_this(), now] {
    self->closing_ = true;
    self->stop_waiting();
    if (now || self->idle_) self->stream_.tcp().cancel();
  });
}

void Connection::check_access() {
  asio::post(strand(), [self = shared_from_this()] {
    if (self->streaming_) self->stop_waiting();
  });
}

// Reads and answers one request; false when the connection is done.
asio::awaitable<bool> Connection::serve_one() {
  RequestParser parser;
  parser.header_limit(header_bytes_max);
  parser.body_limit(boost::none);  // known once the route is
  parser.get().body() = {.share = context_.body_bytes.take(0),
                         .unshared = context_.limits.body_bytes_each};
  auto failed = co_await read_header(parser);
  Exchange exchange{.id = request_id(parser.get()["X-Request-Id"]), .began = SteadyClock::now()};
  if (failed) {
    if (const auto error = explain_unreadable(failed, nullptr)) co_await refuse(exchange, *error);
    co_return false;
  }
  exchange.allowed_origin = context_.cors.allowed(parser.get()[beast::http::field::origin]);
  if (parser.is_done() && !exchange.allowed_origin.empty() && is_preflight(parser.get())) {
    exchange.method = Verb::options;
    exchange.target = parser.get().target();
    if (parser.keep_alive()) exchange.keep = Keep::open;
    co_return co_await send(exchange, context_.cors.preflight(exchange.allowed_origin),
                            exchange.keep);
  }
  if (auto admitted = admit(parser, exchange); !admitted) {
    // A request without a body has been read completely; the next request can follow.
    if (parser.is_done())
      co_return co_await send(exchange, error_response(admitted.error()), exchange.keep);
    co_await refuse(exchange, admitted.error());
    co_return false;
  }
  if (auto read = co_await read_body(parser, *exchange.found->route); !read) {
    if (read.error().code != Errc::unreachable) co_await refuse(exchange, read.error());
    co_return false;
  }
  auto received = parser.release();
  const auto share = std::move(received.body().share);  // until the request is answered
  exchange.began = SteadyClock::now();
  co_return co_await answer(exchange,
                            Request(std::move(received.base()), std::move(received.body().text)));
}

asio::awaitable<error_code> Connection::read_header(RequestParser& parser) {
  error_code failed;
  idle_ = true;
  allow(context_.limits.idle_timeout);
  if (stream_.received() == 0) failed = co_await stream_.receive();
  idle_ = false;
  // No request has begun: there is nothing to answer.
  if (failed) co_return asio::error::eof;
  allow(context_.limits.header_timeout);
  failed = co_await stream_.read_header(parser);
  if (failed && late_) failed = beast::error::timeout;
  if (failed) co_return failed;
  // Where the body ends would be anybody's guess.
  if (parser.get().count(beast::http::field::transfer_encoding) > 0 && !parser.chunked())
    co_return beast::http::error::bad_transfer_encoding;
  co_return error_code{};
}

// Whether the sender may do what it asks for, as far as the header says.
Result<void> Connection::admit(const RequestParser& parser, Exchange& exchange) {
  const auto& header = parser.get();
  exchange.method = header.method();
  exchange.target = header.target();
  if (parser.keep_alive() && header.version() >= 11) exchange.keep = Keep::open;
  const auto target = read_target(header);
  FF_TRY(target);
  const auto access = context_.credentials().access;
  auto found = find_route(header.method(), header.method_string(), target->path);
  if (found) exchange.found = std::move(*found);
  const auto audience = found ? exchange.found->route->audience : Audience::callers;
  if (access->is_open()) {
    // A page of ours may be opened from anywhere: it is the same for everybody.
    if (audience != Audience::browsers && exchange.allowed_origin.empty())
      FF_TRY(refuse_foreign_page(header, target->authority));
    // HTTP/1.0, which no browser speaks, may leave it out. Outsiders bring a credential that a page with a
    // rebound name does not have.
    const bool named = !target->authority.empty() || header.version() >= 11;
    if (context_.on_loopback && named && audience == Audience::callers)
      FF_TRY(refuse_foreign_host(target->authority));
  }
  const bool open = found && exchange.found->route->endpoint.role == Role::nobody;
  const bool by_ticket =
      found && exchange.found->route->takes_ticket && exchange.found->url_fields.contains("ticket");
  if (by_ticket) {  // the engine checks it
    const auto& ticket = exchange.found->url_fields.at("ticket").get_string();
    exchange.caller = {.name = "ticket", .roles = {}};
    exchange.ticket = std::string(ticket);
  } else if (audience == Audience::logins) {
    FF_TRY(refuse_foreign_page(header, target->authority));
    FF_TRY(admit_session(parser, target->authority, exchange));
  } else if (!open && !access->is_open() && header.count(beast::http::field::authorization) == 0 &&
             header.count(beast::http::field::cookie) > 0) {
    FF_TRY(admit_session(parser, target->authority, exchange));
    if (exchange.session.empty())
      FF_TRY(access->admit("", SystemClock().now()));
  } else if (!open) {
    auto caller = access->admit(header[beast::http::field::authorization], SystemClock().now());
    FF_TRY(caller);
    exchange.caller = std::move(*caller);
  }
  FF_TRY(found);
  const auto& route = *exchange.found->route;
  FF_TRY(check_rate(route));
  if (route.is_audited) exchange.caller.from = address().to_string();
  if (!by_ticket && !exchange.caller.may(route.endpoint.role))
    return fail(Errc::permission_denied,
                fmt::format("token '{}' may not do this; it takes one with the role {}",
                            printable(exchange.caller.name), to_string(route.endpoint.role)));
  if (!by_ticket && route.shows_payloads && !exchange.caller.sees_payloads)
    return fail(Errc::permission_denied,
                fmt::format("token '{}' may not see payloads, results, signals or streams",
                            printable(exchange.caller.name)));
  const bool sends_body = parser.chunked() || parser.content_length().value_or(0) > 0;
  if (sends_body && !has_body(route.endpoint.method))
    return fail(Errc::invalid_input,
                fmt::format("{} {} takes no body; its fields belong in the URL",
                            std::string_view(header.method_string()), route.endpoint.path));
  if (parser.content_length().value_or(0) > route.body_bytes_max)
    return std::unexpected(body_too_large(route));
  return {};
}

// Of a request that presents a login session: who it is. A login needs none, and a logout of a session that is over
// succeeds.
Result<void> Connection::admit_session(const RequestParser& parser, std::string_view authority,
                                       Exchange& exchange) {
  const auto& header = parser.get();
  const bool logs_in =
      exchange.found && exchange.found->route->endpoint.path == login_endpoint.path;
  if (logs_in) return {};
  const bool logs_out =
      exchange.found && exchange.found->route->endpoint.path == logout_endpoint.path;
  auto session = presented_session(header);
  if (!session && logs_out) return {};
  FF_TRY(session);
  if (session->empty()) return {};
  auto caller = context_.sessions.admit(*context_.credentials().access, *session,
                                        SystemClock().now());
  if (!caller && logs_out) return {};
  FF_TRY(caller);
  FF_TRY(check_session_request(header, authority, *session));
  if (exchange.found && exchange.found->route->endpoint.role == Role::work)
    return fail(Errc::permission_denied,
                "a login session is for people; workers send their token as Authorization: Bearer "
                "TOKEN");
  exchange.caller = std::move(*caller);
  exchange.session = std::move(*session);
  return {};
}

Response Connection::log_in(Exchange& exchange, const Request& request) {
  const auto now = SystemClock().now();
  const auto authorization = read_login(request);
  if (!authorization) return error_response(authorization.error());
  auto opened = context_.sessions.open(*context_.credentials().access, *authorization, now);
  if (!opened) return error_response(opened.error());
  auto response = login_response(opened->caller);
  response.set(beast::http::field::set_cookie,
               cookie_of(opened->id, *opened->caller.expires_at - now, is_secure()));
  exchange.caller = std::move(opened->caller);
  return response;
}

Response Connection::log_out(const Exchange& exchange) {
  if (!exchange.session.empty()) {
    context_.sessions.close(exchange.session);
    context_.on_session_end();
  }
  auto response = status_response("logged_out");
  response.set(beast::http::field::set_cookie, cookie_that_ends(is_secure()));
  return response;
}

asio::ip::address Connection::address() {
  error_code ignored;
  return stream_.tcp().socket().remote_endpoint(ignored).address();
}

Result<void> Connection::check_rate(const Route& route) {
  RateLimit* limit = nullptr;
  if (route.audience == Audience::token_holders) limit = &context_.waitpoint_rate;
  if (route.audience == Audience::webhooks) limit = &context_.webhook_rate;
  if (route.audience == Audience::logins) limit = &context_.login_rate;
  if (!limit) return {};
  if (limit->take(address(), SteadyClock::now())) return {};
  return fail(Errc::resource_exhausted,
              "too many requests came from this address; try again in a moment");
}

asio::awaitable<Result<void>> Connection::read_body(RequestParser& parser, const Route& route) {
  parser.body_limit(route.body_bytes_max);
  allow(context_.limits.body_timeout);
  error_code failed;
  if (beast::iequals(parser.get()[beast::http::field::expect], "100-continue")) {
    Response go_on{Status::continue_, 11};
    failed = co_await stream_.write(go_on);
  }
  if (!failed) failed = co_await stream_.read(parser);
  if (!failed) co_return Result<void>{};
  if (late_) failed = beast::error::timeout;
  if (auto error = explain_unreadable(failed, &route)) co_return std::unexpected(std::move(*error));
  co_return fail(Errc::unreachable, "");
}

asio::awaitable<bool> Connection::answer(Exchange& exchange, Request request) {
  allow_for_ever();
  const auto& route = *exchange.found->route;
  if (route.audience == Audience::webhooks) {
    auto response = co_await or_apologise(route, run_webhook(exchange, std::move(request)));
    if (closing_) exchange.keep = Keep::close;
    co_return co_await send(exchange, std::move(response), exchange.keep);
  }
  if (route.audience == Audience::logins) {
    auto response = route.endpoint.path == login_endpoint.path ? log_in(exchange, request)
                                                               : log_out(exchange);
    if (closing_) exchange.keep = Keep::close;
    co_return co_await send(exchange, std::move(response), exchange.keep);
  }
  const bool wants_stream = request.method() == Verb::get && route.sends_events &&
                            prefers_event_stream(request[beast::http::field::accept]);
  const std::string last_event_id(request["Last-Event-ID"]);
  if (wants_stream) exchange.authorization = request[beast::http::field::authorization];
  auto fields = read_fields(std::move(*exchange.found), std::move(request), exchange.caller.ns);
  Response response;
  if (!fields) {
    response = error_response(fields.error());
  } else {
    std::optional<NamespaceEngine> scoped;
    if (exchange.caller.ns) scoped.emplace(context_.engine, *exchange.caller.ns);
    Engine& engine = scoped ? static_cast<Engine&>(*scoped) : context_.engine;
    if (wants_stream) {
      if (!last_event_id.empty()) fields->url[place_field(route)] = last_event_id;
      if (route.is_tail && last_event_id == end_of_frames)  // a browser stops to reconnect
        co_return co_await send(exchange, make_response(Status::no_content, "", ""), exchange.keep);
      auto admitted = co_await check_ticket(route, engine, *fields);
      if (!admitted)
        co_return co_await send(exchange, error_response(admitted.error()), exchange.keep);
      co_return co_await send_events(exchange, sent_events(route, engine, *fields));
    }
    response = co_await run(exchange, engine, std::move(*fields));
    if (route.is_tail) {
      exchange.unread = share_of_unread(response.body().size());
      if (!exchange.unread) response = error_response(too_many_unread(context_.unread_bytes));
    }
  }
  if (closing_) exchange.keep = Keep::close;
  co_return co_await send(exchange, std::move(response), exchange.keep);
}

// A reader that follows a stream is counted apart: it must not keep workers from waiting for work.
Result<Connection::WaitingShare> Connection::share_of_waiting(const Exchange& exchange) {
  WaitingShare share;
  if (!exchange.found->route->is_tail) {
    share.of_all = context_.long_polls.take();
    if (!share.of_all) return std::unexpected(too_many_wait(context_.long_polls));
    return share;
  }
  share.of_all = context_.tails.take();
  if (!share.of_all) return std::unexpected(too_many_tails(context_.tails));
  const bool is_counted = !exchange.ticket.empty() || !context_.credentials().access->is_open();
  if (!is_counted) return share;
  auto& holders = exchange.ticket.empty() ? context_.tails_by_token : context_.tails_by_ticket;
  share.of_holder = holders.take(exchange.ticket.empty() ? exchange.caller.name : exchange.ticket);
  if (!share.of_holder) return std::unexpected(too_many_tails(holders));
  return share;
}

asio::awaitable<Response> Connection::run(Exchange& exchange, Engine& engine,
                                          RequestFields fields) {
  if (!exchange.found->route->is_stream_op)
    co_return co_await run_admitted(exchange, engine, std::move(fields));
  if (context_.is_stopping) co_return error_response(stream_ops_closed());
  const auto permit = context_.stream_ops.take();
  if (!permit) co_return error_response(too_many_stream_ops(context_.stream_ops));
  co_return co_await run_admitted(exchange, engine, std::move(fields));
}

asio::awaitable<Response> Connection::run_admitted(Exchange& exchange, Engine& engine,
                                                   RequestFields fields) {
  const auto& route = *exchange.found->route;
  if (!route.may_wait) {
    auto response = co_await or_apologise(route, http::run(route, engine, std::move(fields), &exchange.caller));
    if (route.endpoint.path == endpoint<GetMetrics>.path && response.result() == Status::ok)
      response.body() += context_.metrics.text({.connections = context_.connections.used(),
                                                .long_polls = context_.long_polls.used(),
                                                .tails = context_.tails.used(),
                                                .body_bytes = context_.body_bytes.used(),
                                                .unread_bytes = context_.unread_bytes.used()});
    co_return response;
  }
  Result<WaitingShare> share;
  if (waits(route, fields)) {
    const auto admitted = co_await check_ticket(route, engine, fields);
    if (!admitted) co_return error_response(admitted.error());
    share = share_of_waiting(exchange);
    if (!share) co_return error_response(share.error());
  }
  Response response;
  co_await unless_in_vain(
      set(response,
          or_apologise(route, http::run(route, engine, std::move(fields), &exchange.caller))));
  co_return response;
}

asio::awaitable<Response> Connection::or_apologise(const Route& route,
                                                   asio::awaitable<Response> running) {
  try {
    co_return co_await std::move(running);
  } catch (const std::exception& bug) {
    log::error("a request to {} failed: {}", route.endpoint.path, bug.what());
  }
  co_return error_response({Errc::internal, "the server failed on this request; see its log"});
}

asio::awaitable<Response> Connection::run_webhook(Exchange& exchange, Request request) {
  const auto& name = exchange.found->url_fields.at("name").get_string();
  auto received = context_.credentials().webhooks->receive(name, request, SystemClock().now());
  if (!received) co_return error_response(received.error());
  exchange.caller.name = "webhook:" + std::string(name);
  if (!received->signal) co_return status_response("ignored");
  std::optional<NamespaceEngine> scoped;
  if (received->ns) scoped.emplace(context_.engine, *received->ns);
  Engine& engine = scoped ? static_cast<Engine&>(*scoped) : context_.engine;
  const auto sent = co_await engine.run(std::move(*received->signal));
  if (!sent) co_return error_response(sent.error());
  co_return status_response(sent->duplicate ? "duplicate" : "accepted");
}

// Of a request that presents a ticket, before it takes up anything: whether the engine accepts it.
asio::awaitable<Result<void>> Connection::check_ticket(const Route& route, Engine& engine,
                                                       const RequestFields& fields) {
  if (!route.takes_ticket || !fields.url.contains("ticket")) co_return Result<void>{};
  auto probe = from_fields<ReadStream>(fields);
  if (!probe) co_return std::unexpected(std::move(probe.error()));
  probe->limit = 1;
  probe->bytes_max = 1;
  probe->wait = Millis{0};
  const auto page = co_await engine.run(std::move(*probe));
  if (!page) co_return std::unexpected(page.error());
  co_return Result<void>{};
}

// Events as they happen, until the client or the server has enough. The connection is done then.
asio::awaitable<bool> Connection::send_events(Exchange& exchange,
                                              Result<std::unique_ptr<SentEvents>> events) {
  const auto share = share_of_waiting(exchange);
  if (!share) events = std::unexpected(share.error());
  Result<std::string> text = "";
  if (events)
    text = co_await (*events)->begin(bytes_to_send());
  else
    text = std::unexpected(events.error());
  if (!text) {
    co_await refuse(exchange, text.error());
    co_return false;
  }
  auto head = fmt::format(
      "HTTP/1.1 200 OK\r\nDate: {}\r\nServer: FlowFabric/{}\r\nX-Request-Id: {}\r\n"
      "Content-Type: {}\r\nCache-Control: no-store\r\n{}Connection: close\r\n\r\n",
      http_date(), version, exchange.id, event_stream_type, cors_lines(exchange));
  conclude(exchange, 200);
  streaming_ = true;
  // The system would take up to megabytes for a reader that reads nothing, and the server would encode them first.
  error_code ignored;
  stream_.tcp().socket().set_option(asio::socket_base::send_buffer_size(sent_bytes_max), ignored);
  while (text && !closing_ && !gone_ && is_still_admitted(exchange)) {
    // Events without room are dropped, and read again later.
    auto unread = share_of_unread(text->size());
    if (!unread) {
      (*events)->step_back();
      *text = still_here;
    }
    auto sent = std::exchange(head, "") + std::exchange(*text, "");
    sent.shrink_to_fit();  // it may be held for long
    allow(context_.limits.write_timeout);
    if (co_await stream_.write(std::move(sent))) break;
    allow_for_ever();
    if (!unread) co_await unless_in_vain(pause());
    unread = {};
    if (!is_still_admitted(exchange)) break;
    if ((*events)->is_over()) break;
    co_await unless_in_vain(set(text, (*events)->next(silence_max(exchange), bytes_to_send())));
  }
  co_return false;
}

// Until a sign of life is due, or the caller's token expires.
Millis Connection::silence_max(const Exchange& exchange) const {
  const auto most = std::chrono::duration_cast<Millis>(context_.limits.stream_silence);
  const auto& end = exchange.caller.expires_at;
  return end ? std::clamp(*end - SystemClock().now(), Millis{1}, most) : most;
}

Allowance::Share Connection::share_of_unread(std::size_t bytes) {
  const auto uncounted = context_.limits.unread_bytes_each;
  return context_.unread_bytes.take(bytes - std::min(bytes, uncounted));
}

// One event, if there is not enough room for many.
std::size_t Connection::bytes_to_send() { return share_of_unread(sent_bytes_max) ? sent_bytes_max : 1; }

asio::awaitable<void> Connection::pause() {
  asio::steady_timer timer(strand(), context_.limits.unread_pause);
  co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
}

// Of a response that is written as text.
std::string Connection::cors_lines(const Exchange& exchange) const {
  std::string lines;
  if (!exchange.allowed_origin.empty())
    lines = fmt::format("Access-Control-Allow-Origin: {}\r\n", exchange.allowed_origin);
  if (context_.cors.varies()) lines += "Vary: Origin\r\n";
  return lines;
}

// A stream outlives the check of its request: its token may have expired or been revoked since.
bool Connection::is_still_admitted(Exchange& exchange) const {
  if (!exchange.ticket.empty()) return true;  // the engine checks it at each read
  const auto access = context_.credentials().access;
  const auto now = SystemClock().now();
  auto caller = exchange.session.empty() ? access->admit(exchange.authorization, now)
                                         : context_.sessions.admit(*access, exchange.session, now);
  if (!caller || caller->ns != exchange.caller.ns ||
      !caller->may(exchange.found->route->endpoint.role))
    return false;
  exchange.caller = std::move(*caller);
  return true;
}

// A waiting call ends early when its client has gone or the server stops. Its reply is sent all the same:
// it may carry work that was claimed at the last moment.
asio::awaitable<void> Connection::unless_in_vain(asio::awaitable<void> waiting) {
  waiting_ = true;
  watch_for_hang_up();
  if (closing_) asio::post(strand(), [self = shared_from_this()] { self->stop_waiting(); });
  auto guarded = [](asio::awaitable<void> call) -> asio::awaitable<void> {
    co_await asio::this_coro::throw_if_cancelled(false);
    co_await std::move(call);
  };
  co_await asio::co_spawn(strand(), guarded(std::move(waiting)),
                          asio::bind_cancellation_slot(stop_waiting_.slot(), asio::use_awaitable));
  waiting_ = false;
  stream_.tcp().cancel();  // the watch
  while (receiving_) {
    co_await asio::post(strand(), asio::use_awaitable);
    stream_.tcp().cancel();
  }
}

void Connection::watch_for_hang_up() {
  const auto look = [self = shared_from_this()](error_code cancelled) {
    if (cancelled || !self->waiting_ || std::exchange(self->receiving_, true)) return;
    asio::co_spawn(self->strand(), self->receive_meanwhile(), asio::detached);
  };
  stream_.tcp().socket().async_wait(tcp::socket::wait_read, look);
}

// A hang-up is only detected by reading. Bytes received before it are the next request.
asio::awaitable<void> Connection::receive_meanwhile() {
  error_code failed;
  while (waiting_ && !failed && stream_.received() < header_bytes_max)
    failed = co_await stream_.receive();
  receiving_ = false;
  if (!waiting_ || !failed) co_return;
  gone_ = true;
  stop_waiting();
}

void Connection::stop_waiting() { stop_waiting_.emit(asio::cancellation_type::terminal); }

asio::awaitable<void> Connection::refuse(const Exchange& exchange, const Error& error) {
  co_await send(exchange, error_response(error), Keep::close);
  co_await drain();
}

// Takes what the client is still sending: closed with unread bytes, the connection would be reset and
// the answer lost.
asio::awaitable<void> Connection::drain() {
  error_code failed;
  stream_.tcp().socket().shutdown(tcp::socket::shutdown_send, failed);
  idle_ = true;
  allow(drain_timeout);
  std::array<char, 64 * 1024> bytes;
  std::size_t taken = 0;
  while (!failed && !closing_ && taken < drain_bytes_max)
    failed = co_await stream_.discard(bytes, taken);
}

asio::awaitable<bool> Connection::send(const Exchange& exchange, Response response, Keep keep) {
  response.set(beast::http::field::date, http_date());
  response.set(beast::http::field::server, std::string("FlowFabric/") + version);
  response.set("X-Request-Id", exchange.id);
  if (!exchange.allowed_origin.empty()) {
    response.set(beast::http::field::access_control_allow_origin, exchange.allowed_origin);
    response.set(beast::http::field::access_control_expose_headers, "Retry-After, X-Request-Id");
  }
  if (context_.cors.varies()) response.set(beast::http::field::vary, "Origin");
  if (exchange.found && exchange.found->route->has_secrets) {
    response.set(beast::http::field::cache_control, "no-store");
    response.set("Referrer-Policy", "no-referrer");
  }
  response.keep_alive(keep == Keep::open);
  response.prepare_payload();
  if (response.result() == Status::no_content) response.erase(beast::http::field::content_length);
  // A response to HEAD has no body: a client would take it for the next response.
  if (exchange.method == Verb::head) response.body().clear();
  conclude(exchange, response.result_int());
  allow(context_.limits.write_timeout);
  const auto failed = co_await stream_.write(response);
  co_return !failed && keep == Keep::open;
}

void Connection::allow(std::chrono::milliseconds at_most) {
  late_ = false;
  deadline_ = SteadyClock::now() + at_most;
  if (deadline_ < timer_.expiry()) look_at_the_clock(deadline_);
}

// One timer for everything that a connection does, one after the other: a deadline that is moved out
// costs nothing, and is seen when the earlier one has come.
void Connection::look_at_the_clock(SteadyClock::time_point at) {
  timer_.expires_at(at);
  timer_.async_wait([self = shared_from_this()](error_code cancelled) {
    if (cancelled) return;
    if (self->deadline_ == SteadyClock::time_point::max()) {
      self->timer_.expires_at(self->deadline_);
      return;
    }
    const auto now = SteadyClock::now();
    self->late_ = now >= self->deadline_;
    if (!self->late_) return self->look_at_the_clock(self->deadline_);
    self->stream_.tcp().cancel();
    // An operation that begins after this cancel is not affected by it: cancel again.
    self->look_at_the_clock(now + cancel_again);
  });
}

void Connection::conclude(const Exchange& exchange, unsigned status) {
  const Route* route = exchange.found ? exchange.found->route : nullptr;
  context_.metrics.answered(exchange.method, route, status, SteadyClock::now() - exchange.began);
  const auto level = route && route->is_audited ? log::Level::info : log::Level::debug;
  log::at(level, "{} {} {} request={} by={}", beast::http::to_string(exchange.method),
          shown_path(exchange.target), status, exchange.id, printable(exchange.caller.name));
}

}  // namespace ff::http
