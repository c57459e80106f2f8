// Tickets: a signed right to read the streams of one execution, for somebody who has no other right.
//
//   ticket := signed text (signed_text.hpp) with the prefix "fft1."
//   body   := partition:be16 execution:16 expires_at_ms:be64
#pragma once

#include "core/waitpoints/signed_text.hpp"

namespace ff::core {

// Everything that a ticket grants.
struct StreamTicketClaims {
  ExecutionId execution;
  TimePoint expires_at;  // from then on it is not valid
  bool operator==(const StreamTicketClaims&) const = default;
};

inline constexpr SignedForm stream_ticket_form{.prefix = "fft1.", .bytes_max = 256};

// Fails with not_ready if no secret is installed.
Result<std::string> mint_ticket(const KeyRing& ring, const StreamTicketClaims& claims);

// Fails with unauthenticated, also if it is for another execution.
Result<StreamTicketClaims> verify_ticket(const KeyRing& ring, std::string_view ticket,
                                         const ExecutionId& execution, TimePoint now);

}  // namespace ff::core
