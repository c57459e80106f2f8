// No text is taken for a ticket that was not signed, and a signed one is valid for its execution alone, until it expires.
#include "base/text/utf8.hpp"
#include "core/waitpoints/stream_ticket.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace ff::fuzz {
namespace {

constexpr TimePoint ticket_time{Millis{1'800'000'000'000}};
const ExecutionId read_execution{7, Uuid{}};

core::KeyRing make_ticket_ring() {
  core::KeyRing ring;
  core::install(ring, *WaitpointSecret::parse("00112233445566778899aabbccddeeff"));
  return ring;
}

void check_ticket_text(const core::KeyRing& ring, std::string_view text) {
  const auto claims = core::verify_ticket(ring, text, read_execution, ticket_time);
  expect(!claims, "a text that nobody signed is no ticket");
  expect(is_valid_utf8(claims.error().message), "errors are valid UTF-8");
}

// The input as damage to a ticket.
void check_damage(const core::KeyRing& ring, std::string_view input) {
  const core::StreamTicketClaims claims{.execution = read_execution,
                                        .expires_at = ticket_time + Millis{1}};
  auto ticket = *core::mint_ticket(ring, claims);
  const auto genuine = ticket;
  expect(ticket.size() <= core::stream_ticket_form.bytes_max, "a ticket is short");
  expect(core::verify_ticket(ring, ticket, read_execution, ticket_time) == claims,
         "claims survive a ticket");
  expect(!core::verify_ticket(ring, ticket, read_execution, claims.expires_at), "a ticket expires");
  expect(!core::verify_ticket(ring, ticket, ExecutionId{8, Uuid{}}, ticket_time),
         "a ticket is for one execution");
  for (std::size_t i = 0; i + 1 < input.size(); i += 2)
    ticket[static_cast<unsigned char>(input[i]) % ticket.size()] = input[i + 1];
  const auto read = core::verify_ticket(ring, ticket, read_execution, ticket_time);
  expect(read.has_value() == (ticket == genuine), "a damaged ticket is refused");
}

}  // namespace
}  // namespace ff::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ff;
  static const auto ring = fuzz::make_ticket_ring();
  const auto input = fuzz::as_text(data, size);
  fuzz::check_ticket_text(ring, input);
  fuzz::check_damage(ring, input);
  return 0;
}
