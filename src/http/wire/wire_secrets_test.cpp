#include <gtest/gtest.h>

#include "http/wire/wire.hpp"

namespace ff::http {
namespace {

Result<RotateWaitpointSecret> rotation(std::string_view body) {
  return from_fields<RotateWaitpointSecret>(
      RequestFields{.url = {}, .body = json::parse(body).as_object()});
}

TEST(WireSecrets, RotationIsTheSameAfterTheWay) {
  const auto read = must(rotation(R"({"new_kid": "2027-q1", "new_secret_hex": "C0ffee"})"));
  EXPECT_EQ(read.new_kid.str(), "2027-q1");
  EXPECT_EQ(read.new_secret, must(WaitpointSecret::parse("c0ffee")));
  EXPECT_EQ(to_fields(read), (json::object{{"new_kid", "2027-q1"}, {"new_secret_hex", "c0ffee"}}));
}

TEST(WireSecrets, RefusalsHaveTheContractsCodesAndNoSecret) {
  const auto refused = [](std::string_view kid, std::string_view secret) {
    return rotation(json::serialize(json::object{{"new_kid", kid}, {"new_secret_hex", secret}}))
        .error();
  };
  for (const char* kid : {"", "a:b", "a b"}) {
    EXPECT_EQ(refused(kid, "aa").code, Errc::invalid_kid) << kid;
    EXPECT_EQ(refused(kid, "aa").details.at(0).value, "new_kid");
  }
  for (const char* secret : {"", "abc", "hunter2hunter2"}) {
    const auto error = refused("k2", secret);
    EXPECT_EQ(error.code, Errc::invalid_secret_hex) << secret;
    EXPECT_TRUE(error.message.starts_with("new_secret_hex must be ")) << error.message;
    EXPECT_EQ(error.message.find("hunter2"), std::string::npos);
  }
  EXPECT_EQ(rotation(R"({"new_kid": "k", "new_secret_hex": 1234})").error().message,
            "new_secret_hex must be text, got a whole number");
}

TEST(WireSecrets, RepliesAreTheSameAfterTheWay) {
  const RotateSecretReply reply{
      .rotated = 3, .failed = {1, 7}, .new_kid = must(KeyId::parse("k2"))};
  EXPECT_EQ(must(from_reply<RotateSecretReply>(to_fields(reply))), reply);
  const WaitpointKeyList list{
      {{.kid = reply.new_kid, .current = true},
       {.kid = must(KeyId::parse("k1")), .expires_at = TimePoint{Millis{5}}}}};
  EXPECT_EQ(must(from_reply<WaitpointKeyList>(to_fields(list))), list);
}

}  // namespace
}  // namespace ff::http
