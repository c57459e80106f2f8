// Webhooks: signed requests of other programs that become signals.
#pragma once

#include <flowfabric/limits.hpp>
#include <flowfabric/suspensions.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "http/transport/stream.hpp"
#include "http/wire/endpoints.hpp"

namespace ff::http {

inline constexpr Endpoint webhook_endpoint{Verb::post, "/v1/webhooks/{name}", Role::nobody,
                                           "Send a signal with a signed request"};
inline constexpr std::uint64_t webhook_bytes_max = limits::signal_bytes_max;

struct Webhook;

// The webhooks of a server, as its file has them. docs/webhooks.md describes the file.
class Webhooks {
 public:
  Webhooks();
  ~Webhooks();

  // Fails with invalid_input, which names the member that is wrong and never holds a secret.
  static Result<std::shared_ptr<const Webhooks>> load(const std::filesystem::path& file);

  // The signal that a request with a valid signature asks for.
  struct Received {
    std::optional<SendSignal> signal = {};  // none: a request that the webhook leaves alone
    std::optional<Namespace> ns = {};       // whose executions it may signal; none: all
  };

  // Until the signature is known to be valid, every failure is the same invalid_token.
  Result<Received> receive(std::string_view name, const Request& request, TimePoint now) const;

 private:
  std::vector<Webhook> webhooks_;
};

}  // namespace ff::http
