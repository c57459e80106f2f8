// The secrets that sign waitpoint tokens: replacing them, and seeing which ones are valid.
#pragma once

#include <flowfabric/ids.hpp>
#include <flowfabric/operation_row.hpp>
#include <flowfabric/time.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ff {

// The bytes of a secret. There is no str(), so that no message or log line shows one by mistake.
class WaitpointSecret {
 public:
  WaitpointSecret() = default;  // empty, which every operation refuses

  // Hex digits of either case, at least two. An error does not repeat the text.
  static Result<WaitpointSecret> parse(std::string_view hex);
  static WaitpointSecret of_bytes(std::string bytes) { return WaitpointSecret{std::move(bytes)}; }

  const std::string& bytes() const { return bytes_; }
  std::string to_hex() const;
  bool empty() const { return bytes_.empty(); }

  bool operator==(const WaitpointSecret& other) const;

 private:
  explicit WaitpointSecret(std::string bytes) : bytes_(std::move(bytes)) {}
  std::string bytes_;
};

struct RotateSecretReply {
  std::uint32_t rotated = 0;                     // partitions that sign with the new secret
  std::vector<PartitionIndex> failed = {};       // partitions that do not; rotate again
  std::vector<PartitionIndex> in_progress = {};  // always empty: a partition rotates in one step
  KeyId new_kid;
  bool operator==(const RotateSecretReply&) const = default;
};

// Signs with another secret from now on. Tokens of the one before stay valid for the engine's grace period.
// Repeated with the same id and secret it changes nothing. Fails with rotation_conflict if the id belongs to
// another secret that is still valid, and with rotation_in_progress while another rotation runs.
struct RotateWaitpointSecret {
  using Reply = RotateSecretReply;
  static constexpr OperationRow row{
      .owner = Owner::key_ring,
      .writes = Writes::durable,
      .is_audited = true,
      .http = {HttpMethod::post, "/v1/admin/rotate-waitpoint-secret", Role::admin,
               "Sign waitpoint tokens with another secret"}};
  KeyId new_kid;
  WaitpointSecret new_secret;
};

struct WaitpointKeyInfo {
  KeyId kid;
  bool current = false;  // it signs new tokens
  std::optional<TimePoint> expires_at =
      {};  // of the others: the last moment at which their tokens are valid
  bool operator==(const WaitpointKeyInfo&) const = default;
};
struct WaitpointKeyList {
  std::vector<WaitpointKeyInfo> keys;  // the current one first
  bool operator==(const WaitpointKeyList&) const = default;
};

// The ids of the secrets whose tokens are valid; never the secrets.
struct ListWaitpointKeys {
  using Reply = WaitpointKeyList;
  static constexpr OperationRow row{
      .owner = Owner::key_ring,
      .http = {HttpMethod::get, "/v1/admin/waitpoint-keys", Role::admin,
               "List the ids of the secrets that sign waitpoint tokens"}};
};

}  // namespace ff
