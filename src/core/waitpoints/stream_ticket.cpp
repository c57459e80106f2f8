#include "core/waitpoints/stream_ticket.hpp"

namespace ff::core {

Result<std::string> mint_ticket(const KeyRing& ring, const StreamTicketClaims& claims) {
  std::string body;
  append_number(body, claims.execution.partition());
  const auto& uuid = claims.execution.uuid().bytes();
  body.append(uuid.begin(), uuid.end());
  append_number(body, static_cast<std::uint64_t>(claims.expires_at.time_since_epoch().count()));
  auto ticket = sign(ring, stream_ticket_form, body);
  if (!ticket)
    return fail(Errc::not_ready,
                "no secret that signs tickets is installed; ff secrets rotate installs one",
                {{"what", "waitpoint_secret"}});
  return std::move(*ticket);
}

Result<StreamTicketClaims> verify_ticket(const KeyRing& ring, std::string_view ticket,
                                         const ExecutionId& execution, TimePoint now) {
  // One error for everything that can be wrong: it tells a forger nothing.
  const auto invalid = [] {
    return fail(Errc::unauthenticated,
                "the ticket is not valid for the streams of this execution; ask for another one");
  };
  const auto text = open_signed(ring, stream_ticket_form, ticket);
  if (!text) return invalid();
  BodyReader read(text->body);
  StreamTicketClaims claims;
  const auto partition = read.number<PartitionIndex>();
  claims.execution = {partition, read.uuid()};
  claims.expires_at = TimePoint{Millis{static_cast<Millis::rep>(read.number<std::uint64_t>())}};
  if (!read.ok || !read.rest().empty() || claims.execution != execution) return invalid();
  if (!is_valid(ring, text->kid, now) || claims.expires_at <= now)
    return fail(Errc::unauthenticated, "the ticket has expired; ask for another one");
  return claims;
}

}  // namespace ff::core
