#include "http/json_fields.hpp"

#include <algorithm>

#include "base/base64.hpp"
#include "base/utf8.hpp"

namespace ff::http {
namespace {

std::string base64_name(std::string_view name) { return std::string(name) + "_base64"; }

}  // namespace

const json::value* FieldReader::take(std::string_view name) {
  const auto field = object_.find(name);
  if (field == object_.end()) return nullptr;
  taken_.push_back(field->key());
  return &field->value();
}

void FieldReader::refuse(Errc code, std::string_view field, std::string message) {
  if (!error_) error_ = fail_field(code, field, std::move(message)).error();
}

void FieldReader::bytes(std::string_view name, std::string& value) {
  const auto encoded_name = base64_name(name);
  const bool both = object_.contains(name) && object_.contains(encoded_name);
  if (both)
    refuse(Errc::invalid_input, name,
           fmt::format("give either {} or {}, not both", name, encoded_name));
  read(name, value);
  std::optional<std::string> encoded;
  optional(encoded_name, encoded);
  if (!encoded || error_) return;
  auto decoded = base64_decode(*encoded);
  if (decoded)
    value = std::move(*decoded);
  else
    refuse(Errc::invalid_input, encoded_name,
           fmt::format("{}: {}", encoded_name, decoded.error().message));
}

void FieldReader::fence(Fence& value) {
  const auto names = {"lease_id", "lease_epoch", "attempt_id"};
  const auto given =
      std::ranges::count_if(names, [this](auto name) { return object_.contains(name); });
  if (given == 0)
    refuse(Errc::fence_required, "lease_id",
           "lease_id, lease_epoch and attempt_id are missing; give the ones the claim answered with");
  else if (given < 3)
    refuse(Errc::partial_fence_triple, "lease_id",
           "lease_id, lease_epoch and attempt_id belong together; give all three");
  defaulted("lease_id", value.lease_id);
  defaulted("lease_epoch", value.lease_epoch);
  defaulted("attempt_id", value.attempt_id);
}

Result<void> FieldReader::finish(Unknown unknown) {
  if (unknown == Unknown::refuse)
    for (const auto& field : object_)
      if (std::ranges::find(taken_, std::string_view(field.key())) == taken_.end())
        refuse(Errc::unknown_field, printable(field.key()),
               fmt::format("there is no field '{}' here; check its spelling",
                           printable(field.key())));
  if (error_) return std::unexpected(std::move(*error_));
  return {};
}

void FieldWriter::bytes(std::string_view name, const std::string& value) {
  if (is_valid_utf8(value))
    object_[name] = value;
  else
    object_[base64_name(name)] = base64_encode(value);
}

void FieldWriter::fence(const Fence& value) {
  required("lease_id", value.lease_id);
  required("lease_epoch", value.lease_epoch);
  required("attempt_id", value.attempt_id);
}

}  // namespace ff::http
