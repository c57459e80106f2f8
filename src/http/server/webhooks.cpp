#include "http/server/webhooks.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>

#include "base/text/base64.hpp"
#include "base/text/hex.hpp"
#include "base/text/hmac.hpp"
#include "base/text/utf8.hpp"
#include "base/try.hpp"
#include "http/wire/json_codec.hpp"
#include "http/wire/json_parser.hpp"

namespace ff::http {

enum class SignatureEncoding : std::uint8_t { hex, base64 };

}  // namespace ff::http

namespace ff {
FF_NAMES(http::SignatureEncoding, "hex", "base64");
}

namespace ff::http {
namespace {

inline constexpr TextRule webhook_rule{"name", 64, TextAlphabet::name};
using WebhookName = TextId<webhook_rule>;

constexpr std::size_t file_bytes_max = 1024 * 1024;
constexpr std::size_t webhooks_max = 1'000;
constexpr std::size_t secret_bytes_min = 16;
constexpr std::size_t secrets_max = 8;                // of one webhook
constexpr std::size_t header_parts_max = 16;          // that are looked at
constexpr std::int64_t seconds_max = 99'999'999'999;  // larger timestamps are milliseconds

constexpr std::string_view body_mark = "{body}";
constexpr std::string_view timestamp_mark = "{timestamp}";

// A header, or the comma-separated parts of it that begin with `prefix`.
struct HeaderPart {
  std::string header;
  std::string prefix = {};
};

struct SignatureRule {
  HeaderPart from;
  SignatureEncoding encoding{};
};

struct TimestampRule {
  HeaderPart from;
  Millis tolerance = std::chrono::minutes{5};
};

// The source of a value: exactly one of these.
struct ValueSource {
  std::optional<std::string> pointer = {};  // into the body
  std::optional<std::string> header = {};
  std::optional<std::string> constant = {};
};

struct Filter {
  ValueSource value;
  std::string equals;
};

void describe(Fields& fields, HeaderPart& part) {
  fields.required("header", part.header);
  fields.defaulted("prefix", part.prefix);
}
void describe(Fields& fields, SignatureRule& rule) {
  describe(fields, rule.from);
  fields.defaulted("encoding", rule.encoding);
}
void describe(Fields& fields, TimestampRule& rule) {
  describe(fields, rule.from);
  fields.defaulted("tolerance_ms", rule.tolerance);
}
void describe(Fields& fields, ValueSource& source) {
  fields.optional("pointer", source.pointer);
  fields.optional("header", source.header);
  fields.optional("constant", source.constant);
}
void describe(Fields& fields, Filter& filter) {
  describe(fields, filter.value);
  fields.required("equals", filter.equals);
}

}  // namespace

struct Webhook {
  WebhookName name;
  std::string secret_file;
  SignatureRule signature;
  std::optional<TimestampRule> timestamp = {};
  std::optional<std::string> signed_text = {};  // a template of the bytes that are signed
  std::optional<Namespace> ns = {};
  ValueSource execution;
  ValueSource signal;
  std::optional<ValueSource> waitpoint = {};
  std::optional<ValueSource> idempotency_key = {};
  std::vector<Filter> only_if = {};

  std::vector<std::string> secrets = {};  // of secret_file
};

void describe(Fields& fields, Webhook& webhook) {
  fields.required("name", webhook.name);
  fields.required("secret_file", webhook.secret_file);
  fields.required("signature", webhook.signature);
  fields.optional("timestamp", webhook.timestamp);
  fields.optional("signed", webhook.signed_text);
  fields.optional("namespace", webhook.ns);
  fields.required("execution", webhook.execution);
  fields.required("signal", webhook.signal);
  fields.optional("waitpoint", webhook.waitpoint);
  fields.optional("idempotency_key", webhook.idempotency_key);
  fields.defaulted("only_if", webhook.only_if);
}

namespace {

struct WebhookList {
  std::vector<Webhook> webhooks;
};

void describe(Fields& fields, WebhookList& list) { fields.required("webhooks", list.webhooks); }

// ---- Loading ------------------------------------------------------------------------------------

Result<std::string> read_text(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text(file_bytes_max + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!stream.is_open() || stream.bad()) return fail(Errc::invalid_input, "it cannot be read");
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > file_bytes_max)
    return fail(Errc::invalid_input, fmt::format("it is larger than {} bytes", file_bytes_max));
  return text;
}

// One secret a line: during a rotation there are two.
Result<std::vector<std::string>> read_secrets(const std::filesystem::path& file) {
  const auto text = read_text(file);
  FF_TRY(text);
  std::vector<std::string> secrets;
  for (std::string_view rest = *text; !rest.empty();) {
    auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (!line.empty()) secrets.emplace_back(line);
  }
  const auto too_short = [](const std::string& secret) { return secret.size() < secret_bytes_min; };
  if (secrets.empty() || secrets.size() > secrets_max || std::ranges::any_of(secrets, too_short))
    return fail(Errc::invalid_input,
                fmt::format("it must hold 1 to {} secrets of at least {} characters, one a line",
                            secrets_max, secret_bytes_min));
  return secrets;
}

bool is_pointer(std::string_view text) {
  if (!text.empty() && !text.starts_with('/')) return false;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '~' && (i + 1 == text.size() || (text[i + 1] != '0' && text[i + 1] != '1')))
      return false;
  return true;
}

Result<void> check_source(const std::string& member, const ValueSource& source) {
  const auto given = int{source.pointer.has_value()} + int{source.header.has_value()} +
                     int{source.constant.has_value()};
  if (given != 1)
    return fail_field(Errc::invalid_input, member,
                      member + " must have one of pointer, header and constant");
  if (source.pointer && !is_pointer(*source.pointer))
    return fail_field(Errc::invalid_input, member + ".pointer",
                      member + ".pointer must be a JSON pointer such as /deployment/id");
  return {};
}

// A source that the signature covers: with any other, a recorded request could be changed and sent again.
Result<void> check_signed_source(const std::string& member, const ValueSource& source) {
  if (source.header)
    return fail_field(Errc::invalid_input, member + ".header",
                      member +
                          " must not come from a header, which the signature does not cover; "
                          "give a pointer into the body or a constant");
  return check_source(member, source);
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

// A timestamp that is not signed could be set by anybody, a signed one is not checked unless it is named.
Result<void> check_signed(const Webhook& webhook) {
  const std::size_t timestamps = webhook.timestamp ? 1 : 0;
  if (!webhook.signed_text || (count_of(*webhook.signed_text, body_mark) == 1 &&
                               count_of(*webhook.signed_text, timestamp_mark) == timestamps))
    return {};
  return fail_field(Errc::invalid_input, "signed",
                    fmt::format("signed must have {} once, and {} {}", body_mark, timestamp_mark,
                                timestamps ? "once" : "only beside a member timestamp"));
}

Result<void> check(const Webhook& webhook) {
  FF_TRY(check_signed(webhook));
  if (webhook.timestamp && (webhook.timestamp->tolerance <= Millis{0} ||
                            webhook.timestamp->tolerance > limits::duration_max))
    return fail_field(
        Errc::invalid_input, "timestamp.tolerance_ms",
        fmt::format("timestamp.tolerance_ms must be from 1 to {}", limits::duration_max.count()));
  FF_TRY(check_signed_source("execution", webhook.execution));
  FF_TRY(check_signed_source("signal", webhook.signal));
  if (webhook.waitpoint) FF_TRY(check_signed_source("waitpoint", *webhook.waitpoint));
  if (webhook.idempotency_key)
    FF_TRY(check_signed_source("idempotency_key", *webhook.idempotency_key));
  for (const auto& filter : webhook.only_if) FF_TRY(check_source("only_if", filter.value));
  return {};
}

Result<std::vector<Webhook>> read_webhooks(const std::filesystem::path& file) {
  const auto text = read_text(file);
  FF_TRY(text);
  auto parsed = parse_json_object(*text);
  if (!parsed) return fail(Errc::invalid_input, R"(it must be JSON like {"webhooks": [...]})");
  auto list = from_fields<WebhookList>({}, *parsed, Source::json);
  FF_TRY(list);
  auto& webhooks = list->webhooks;
  if (webhooks.empty() || webhooks.size() > webhooks_max)
    return fail(Errc::invalid_input, fmt::format("it must hold 1 to {} webhooks", webhooks_max));
  for (auto webhook = webhooks.begin(); webhook != webhooks.end(); ++webhook) {
    const auto refuse = [&](std::string_view why) {
      return fail(Errc::invalid_input, fmt::format("webhook '{}': {}", webhook->name.str(), why));
    };
    if (std::ranges::count(webhooks, webhook->name, &Webhook::name) > 1)
      return refuse("there are two of this name");
    if (auto valid = check(*webhook); !valid) return refuse(valid.error().message);
    const auto secret_file = file.parent_path() / webhook->secret_file;
    auto secrets = read_secrets(secret_file);
    if (!secrets)
      return refuse(fmt::format("{}: {}", secret_file.string(), secrets.error().message));
    webhook->secrets = std::move(*secrets);
  }
  return std::move(webhooks);
}

// ---- Verifying ----------------------------------------------------------------------------------

std::unexpected<Error> not_verified() {
  return fail(Errc::invalid_token,
              "there is no such webhook, or the request is not signed with its secret");
}

std::vector<std::string_view> parts_of(const Request& request, const HeaderPart& wanted) {
  std::vector<std::string_view> parts;
  for (std::string_view rest = request[wanted.header];
       !rest.empty() && parts.size() < header_parts_max;) {
    auto part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (part.starts_with(wanted.prefix)) parts.push_back(part.substr(wanted.prefix.size()));
  }
  return parts;
}

std::optional<std::string> decode(std::string_view text, SignatureEncoding encoding) {
  if (encoding == SignatureEncoding::hex) return hex_decode(text);
  auto bytes = base64_decode(text);
  return bytes ? std::optional(std::move(*bytes)) : std::nullopt;
}

std::string replaced(std::string text, std::string_view mark, std::string_view by) {
  if (const auto at = text.find(mark); at != text.npos) text.replace(at, mark.size(), by);
  return text;
}

// The bytes that the sender signs. The timestamp is put in first: the body may hold its mark.
std::string signed_bytes(const Webhook& webhook, std::string_view timestamp,
                         std::string_view body) {
  const std::string usual = webhook.timestamp ? "{timestamp}.{body}" : "{body}";
  auto text = webhook.signed_text.value_or(usual);
  const auto body_at = text.find(body_mark);
  const auto after = text.substr(body_at + body_mark.size());
  text.resize(body_at);
  return replaced(std::move(text), timestamp_mark, timestamp) + std::string(body) +
         replaced(after, timestamp_mark, timestamp);
}

bool is_fresh(std::string_view timestamp, Millis tolerance, TimePoint now) {
  std::int64_t number = 0;
  const auto end = timestamp.data() + timestamp.size();
  const auto [rest, failed] = std::from_chars(timestamp.data(), end, number);
  if (failed != std::errc{} || rest != end || number < 0 ||
      number > limits::time_max.time_since_epoch().count())
    return false;
  const TimePoint at{number > seconds_max ? Millis{number} : std::chrono::seconds{number}};
  return at >= now - tolerance && at <= now + tolerance;
}

// The signed bytes of a request with a valid signature; none if it has none.
std::optional<std::string> verified_bytes(const Webhook& webhook, const Request& request,
                                          TimePoint now) {
  std::string_view timestamp;
  bool fresh = true;
  if (webhook.timestamp) {
    const auto found = parts_of(request, webhook.timestamp->from);
    if (!found.empty()) timestamp = found.front();
    fresh = is_fresh(timestamp, webhook.timestamp->tolerance, now);
  }
  auto bytes = signed_bytes(webhook, timestamp, request.body());
  const auto given = parts_of(request, webhook.signature.from);
  bool genuine = false;
  for (const auto& secret : webhook.secrets) {
    const auto wanted = hmac_sha256(secret, bytes);
    for (const auto& each : given) {
      const auto code = decode(each, webhook.signature.encoding);
      if (code && same_bytes(*code, wanted)) genuine = true;
    }
  }
  if (!genuine || !fresh) return std::nullopt;
  return bytes;
}

// ---- Mapping ------------------------------------------------------------------------------------

bool needs_body(const Webhook& webhook) {
  const auto reads = [](const ValueSource& source) { return source.pointer.has_value(); };
  return reads(webhook.execution) || reads(webhook.signal) ||
         (webhook.waitpoint && reads(*webhook.waitpoint)) ||
         (webhook.idempotency_key && reads(*webhook.idempotency_key)) ||
         std::ranges::any_of(webhook.only_if, reads, &Filter::value);
}

// The values of one request.
class Values {
 public:
  Values(const Request& request, json::value body) : request_(request), body_(std::move(body)) {}

  // None if it is not there, or neither text nor a whole number.
  std::optional<std::string> get(const ValueSource& source) const {
    if (source.constant) return source.constant;
    if (source.header) {
      const auto found = request_.find(*source.header);
      if (found == request_.end()) return std::nullopt;
      return std::string(found->value());
    }
    boost::system::error_code absent;
    const auto* found = body_.find_pointer(*source.pointer, absent);
    if (found && found->is_string()) return std::string(found->get_string());
    if (found && (found->is_int64() || found->is_uint64())) return json::serialize(*found);
    return std::nullopt;
  }

  // A value that has to be there, as an id.
  template <class Id>
  Result<Id> parse(std::string_view member, const ValueSource& source) const {
    auto text = get(source);
    if (!text)
      return fail_field(
          Errc::invalid_input, member,
          fmt::format("the request has no text for {} where the webhook looks for it", member));
    auto id = Id::parse(std::move(*text));
    if (id) return id;
    return fail_field(Errc::invalid_input, member,
                      fmt::format("{}: {}", member, id.error().message));
  }

 private:
  const Request& request_;
  json::value body_;
};

// Without an idempotency key, requests with the same signed bytes are one.
SignalKey usual_key(const Webhook& webhook, std::string_view bytes) {
  return *SignalKey::parse(
      fmt::format("webhook:{}:{}", webhook.name.str(), hex_encode(hmac_sha256("", bytes))));
}

Result<SendSignal> read_signal(const Webhook& webhook, const Values& values,
                               std::string_view bytes) {
  SendSignal send;
  send.dedup_window = limits::duration_max;
  send.idempotency_key = usual_key(webhook, bytes);
  send.source = {.type = "webhook", .identity = webhook.name.str()};
  auto execution = values.parse<ExecutionId>("execution", webhook.execution);
  FF_TRY(execution);
  send.id = *execution;
  auto name = values.parse<SignalName>("signal", webhook.signal);
  FF_TRY(name);
  send.name = std::move(*name);
  if (webhook.waitpoint) {
    auto waitpoint = values.parse<WaitpointId>("waitpoint", *webhook.waitpoint);
    FF_TRY(waitpoint);
    send.waitpoint = *waitpoint;
  }
  if (webhook.idempotency_key) {
    auto key = values.parse<SignalKey>("idempotency_key", *webhook.idempotency_key);
    FF_TRY(key);
    send.idempotency_key = std::move(*key);
  }
  return send;
}

}  // namespace

Webhooks::Webhooks() = default;
Webhooks::~Webhooks() = default;

Result<std::shared_ptr<const Webhooks>> Webhooks::load(const std::filesystem::path& file) {
  auto read = read_webhooks(file);
  if (!read) {
    auto error = std::move(read.error());
    error.code = Errc::invalid_input;
    const auto member = std::ranges::find(error.details, "field", &Error::Detail::name);
    const auto at = member == error.details.end() ? "" : fmt::format(" (at {})", member->value);
    error.message = fmt::format("webhooks file {}: {}{}", file.string(), error.message, at);
    return std::unexpected(std::move(error));
  }
  auto webhooks = std::make_shared<Webhooks>();
  webhooks->webhooks_ = std::move(*read);
  return webhooks;
}

Result<Webhooks::Received> Webhooks::receive(std::string_view name, const Request& request,
                                             TimePoint now) const {
  const auto found = std::ranges::find(
      webhooks_, name, [](const Webhook& each) { return std::string_view(each.name.str()); });
  if (found == webhooks_.end()) {
    static_cast<void>(hmac_sha256("a secret that signs nothing", request.body()));  // as slow
    return not_verified();
  }
  const auto bytes = verified_bytes(*found, request, now);
  if (!bytes) return not_verified();

  json::value body;
  if (needs_body(*found)) {
    auto parsed = parse_json_object(request.body());
    FF_TRY(parsed);
    body = std::move(*parsed);
  }
  const Values values(request, std::move(body));
  const auto differs = [&](const Filter& filter) {
    return values.get(filter.value) != filter.equals;
  };
  if (std::ranges::any_of(found->only_if, differs)) return Received{};
  auto signal = read_signal(*found, values, *bytes);
  FF_TRY(signal);
  signal->payload = request.body();
  if (auto type = ContentType::parse(std::string(request[beast::http::field::content_type])))
    signal->content_type = std::move(*type);
  return Received{.signal = std::move(*signal), .ns = found->ns};
}

}  // namespace ff::http
