#include "http/client/remote_engine.hpp"

#include <boost/url.hpp>

#include "base/text/redact.hpp"
#include "base/text/utf8.hpp"
#include "base/try.hpp"
#include "http/client/client.hpp"
#include "http/transport/tls.hpp"
#include "http/wire/problem.hpp"
#include "http/wire/wire.hpp"

namespace ff::http {
namespace {

namespace urls = boost::urls;

std::string plain_text(const json::value& value) {
  if (value.is_string()) return std::string(value.get_string());
  if (!value.is_array()) return json::serialize(value);
  std::string list;
  for (const auto& element : value.get_array())
    list += (list.empty() ? "" : ",") + plain_text(element);
  return list;
}

std::string url_text(const json::value& value) {
  return urls::encode(plain_text(value), urls::unreserved_chars);
}

// An operation as a request asks for it.
struct Asked {
  Endpoint endpoint;
  json::object fields;
  std::chrono::milliseconds timeout;
  bool has_token_header;
};

// The path with its {names} filled in; these fields are taken out.
std::string take_path(std::string_view pattern, json::object& fields) {
  std::string path;
  while (!pattern.empty()) {
    const auto open = pattern.find('{');
    path += pattern.substr(0, open);
    if (open == std::string_view::npos) break;
    const auto close = pattern.find('}', open);
    const auto name = pattern.substr(open + 1, close - open - 1);
    path += url_text(fields.at(name));
    fields.erase(name);
    pattern.remove_prefix(close + 1);
  }
  return path;
}

// "?name=value&…"
std::string query(const json::object& fields) {
  std::string text;
  for (const auto& field : fields)
    text += (text.empty() ? '?' : '&') + std::string(field.key()) + '=' + url_text(field.value());
  return text;
}

Request make_request(const std::string& prefix, Asked asked) {
  auto& [endpoint, fields, timeout, has_token_header] = asked;
  Request request{endpoint.method, "", 11};
  if (has_token_header) {
    const auto token = plain_text(fields.at("token"));
    request.set(beast::http::field::authorization, std::string(token_scheme) + token);
    fields.erase("token");
  }
  auto path = prefix + take_path(endpoint.path, fields);
  if (has_body(endpoint.method)) {
    request.target(path);
    request.set(beast::http::field::content_type, "application/json");
    request.body() = json::serialize(fields);
  } else {
    request.target(path + query(fields));
  }
  return request;
}

Result<json::object> parse_body(const Response& response) {
  boost::system::error_code malformed;
  auto body = json::parse(response.body(), malformed,
                          json::make_shared_resource<json::monotonic_resource>());
  // A variant without fields, as the published contract writes it.
  if (!malformed && body.is_string()) return json::object{{body.get_string(), json::object{}}};
  if (malformed || !body.is_object())
    return fail(Errc::malformed_response, fmt::format("the server's answer is not FlowFabric's: {}",
                                                      printable(response.body())));
  return std::move(body.get_object());
}

template <class Reply>
Result<Reply> parse_reply(Response&& response) {
  if (response.result() == Status::no_content) return Reply{};
  const auto body = parse_body(response);
  FF_TRY(body);
  auto reply = from_reply<Reply>(*body);
  if (!reply) reply.error().code = Errc::malformed_response;
  return reply;
}

template <>
Result<Bytes> parse_reply(Response&& response) {
  Bytes reply{.bytes = std::move(response.body()),
              .absent = response.result() == Status::no_content};
  const auto type = response[beast::http::field::content_type];
  if (auto given = ContentType::parse(std::string(type)); given && type != unknown_content_type)
    reply.content_type = std::move(*given);
  return reply;
}

template <class Op>
Millis timeout_of(const Op& operation, Millis answer) {
  // A renewal that hangs must leave time for the next one.
  if constexpr (std::same_as<Op, Renew>)
    return std::min(std::max<Millis>(operation.lease_ttl / 3, std::chrono::seconds{1}), answer);
  else if constexpr (Waiting<Op>)
    return operation.wait + answer;
  else
    return answer;
}

}  // namespace

Result<std::unique_ptr<RemoteEngine>> RemoteEngine::open(std::string_view text,
                                                         const OpenOptions& options) {
  const auto url = urls::parse_uri(text);
  const bool has_more = url && (url->has_query() || url->has_userinfo() || url->has_fragment());
  const bool bad_port = url && url->has_port() && url->port_number() == 0;
  const bool tls = url && url->scheme() == "https";
  if (!url || (!tls && url->scheme() != "http") || url->host().empty() || has_more || bad_port)
    return fail(Errc::invalid_input,
                fmt::format("'{}' is not the address of a server; one looks like "
                            "http://127.0.0.1:9090, or https://HOST/PREFIX behind a proxy",
                            printable(without_password(text))));
  if (!std::ranges::all_of(options.token, [](char c) { return c > 0x20 && c < 0x7f; }))
    return fail(Errc::invalid_input, "the token must be visible ASCII characters, without blanks");
  std::shared_ptr<TlsContext> context;
  if (tls) {
    auto trusting = client_tls(options.ca_file);
    FF_TRY(trusting);
    context = std::move(*trusting);
  }
  const std::string usual_port = tls ? "443" : "80";
  const auto port = url->has_port() ? std::string(url->port()) : usual_port;
  const auto host = url->host_address();
  std::string prefix(url->encoded_path());
  while (prefix.ends_with('/')) prefix.pop_back();
  return std::unique_ptr<RemoteEngine>(
      new RemoteEngine(options.timeout, std::move(prefix), [&](asio::any_io_executor executor) {
        return std::make_unique<Client>(std::move(executor), host, port, options.token, context);
      }));
}

RemoteEngine::~RemoteEngine() = default;

asio::awaitable<void> RemoteEngine::perform(EngineCall& call) {
  const auto answer = call.timeout.value_or(timeout_);
  auto asked = call.visit([&]<class Op>(OperationCall<Op>& each) {
    Asked made{endpoint<Op>, to_fields(each.operation), timeout_of(each.operation, answer),
               !token_header_path<Op>.empty()};
    if (made.has_token_header) made.endpoint.path = token_header_path<Op>;
    return made;
  });
  // Servers of every version have the older of two paths.
  auto& at = asked.endpoint;
  if (!at.alias.empty()) at.path = at.alias;
  const auto timeout = asked.timeout;
  auto request = make_request(prefix_, std::move(asked));
  auto response = co_await client_->send(std::move(request), timeout);
  if (!response)
    call.refuse(std::move(response.error()));
  else if (beast::http::to_status_class(response->result()) !=
           beast::http::status_class::successful)
    call.refuse(from_problem(response->result_int(), response->body()));
  else
    call.visit([&]<class Op>(OperationCall<Op>& each) {
      each.reply.emplace(parse_reply<typename Op::Reply>(std::move(*response)));
    });
}

}  // namespace ff::http
