// Waitpoint tokens and the secrets that sign them, in Lua.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/assert.hpp"
#include "tests/contract/fixture.hpp"
#include "tests/support/paths.hpp"

namespace ff::test {
namespace {

const std::string ring_key = "ff:sec:" + tag + ":waitpoint_hmac";
const std::string no_time = "0";

std::string module_text(const std::filesystem::path& path) {
  std::ifstream file(source_dir() / "src/store/valkey/lua/lib" / path);
  FF_ASSERT(file.is_open());
  const auto name = path.stem().string();
  std::stringstream text;
  text << "local " << name << " = (function()\n" << file.rdbuf() << "end)()\n";
  return text.str();
}

Call rotate(const std::string& kid, const std::string& secret,
            const std::string& grace_ms = "1000") {
  return {"ff_rotate_waitpoint_hmac_secret", {ring_key}, {kid, secret, grace_ms}};
}
Call list_kids() { return {"ff_list_waitpoint_hmac_kids", {ring_key}, {}}; }

struct Waitpoint {
  std::string id;
  std::string key;
  std::string created_at;
};

struct Vector {
  std::string kid;
  std::string secret;
  Waitpoint waitpoint;
  std::string token;
};

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

const std::vector<Vector> vectors{
    {"k1",
     repeated("0", 64),
     {"11111111-1111-4111-8111-111111111111", "wpk:11111111-1111-4111-8111-111111111111",
      "1794765568947"},
     "k1:3f9246d4d07509d3e98bf48343b54b45d551ca10"},
    {"k1",
     "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
     {"22222222-2222-4222-8222-222222222222", "approval", "1794765568958"},
     "k1:37f8db48e32655e7a2d8bb815333f289e1334ccc"},
    {"2026-q1",
     "DEADBEEF",
     {"33333333-3333-4333-8333-333333333333", "", "1794765569143"},
     "2026-q1:c00a9f3de006e53857f0354db81814f52dd3d04e"},
    {"long",
     repeated("ab", 100),
     {"44444444-4444-4444-8444-444444444444", "a|b", "1794765569144"},
     "long:59bc74d24f0d66fa114f4d0a2ef1294530870fff"},
    {"b64",
     repeated("5a", 64),
     {"55555555-5555-4555-8555-555555555555", "clé-é", "1794765569146"},
     "b64:d8f7d44a62f965fb655028925b8a6937a9851b19"},
    {"k1",
     repeated("0", 64),
     {"66666666-6666-4666-8666-666666666666", "wpk:66666666-6666-4666-8666-666666666666",
      "1700000000000"},
     "k1:50b3677bc5122f6589bcb793b42cfda5cf58cea9"},
    {"k2",
     repeated("f", 40),
     {"77777777-7777-4777-8777-777777777777", "key", "1763229600000"},
     "k2:041ecdc9b8d6e72f589e2cad55e9358017ec3e06"},
    {"k3",
     "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
     {"88888888-8888-4888-8888-888888888888", "step:3", "0"},
     "k3:c5d7cee5e2eca8276ac6699d8613d947da033aeb"}};

class TokenContract : public Contract {
 protected:
  // No function of the contract does nothing but mint or check: a library of the test's own does.
  TokenContract() {
    std::string text = "#!lua name=token_test\n";
    for (const char* path : {"reply.lua", "suspensions/hmac.lua", "suspensions/key_rings.lua", "resources/tokens.lua"})
      text += module_text(path);
    text += R"(
      server.register_function('test_mint', function(K, A)
        local token, refused = tokens.mint(K[1], A[1], A[2], A[3])
        return token and {token} or refused
      end)
      server.register_function('test_check', function(K, A)
        return tokens.check(K[1], A[1], A[2], A[3], A[4], tonumber(A[5])) or {'valid'}
      end)
    )";
    command({"FUNCTION", "LOAD", "REPLACE", text});
  }
  ~TokenContract() override { command({"FUNCTION", "DELETE", "token_test"}); }

  std::string mint(const Waitpoint& waitpoint, const std::string& key = ring_key) {
    return run({"test_mint", {key}, {waitpoint.id, waitpoint.key, waitpoint.created_at}});
  }
  std::string check(const std::string& token, const Waitpoint& waitpoint,
                    const std::string& at = no_time) {
    return run(
        {"test_check", {ring_key}, {token, waitpoint.id, waitpoint.key, waitpoint.created_at, at}});
  }
  void set(Texts fields) {
    Texts set{"HSET", ring_key};
    set.insert(set.end(), fields.begin(), fields.end());
    command(set);
  }
  void remove(const std::string& field) { command({"HDEL", ring_key, field}); }
  void clear() { command({"DEL", ring_key}); }
  std::string field(const std::string& name) {
    const auto reply = command({"HGET", ring_key, name});
    return reply.as_text() ? *reply.as_text() : "(none)";
  }
  std::size_t size() { return static_cast<std::size_t>(*command({"HLEN", ring_key}).as_int()); }
};

// ---- Tokens -------------------------------------------------------------------------------------

TEST_F(TokenContract, FollowThePublishedVectors) {
  for (const auto& [kid, secret, waitpoint, token] : vectors) {
    clear();
    set({"current_kid", kid, "secret:" + kid, secret});
    EXPECT_EQ(
        reply_of({"test_mint", {ring_key}, {waitpoint.id, waitpoint.key, waitpoint.created_at}}),
        Texts{token});
    EXPECT_EQ(check(token, waitpoint), "valid") << token;
  }
}

TEST_F(TokenContract, TimeOfCreationIsReadAsANumber) {
  const auto& [kid, secret, waitpoint, token] = vectors[5];
  set({"current_kid", kid, "secret:" + kid, secret});
  auto same = waitpoint;
  for (const std::string time : {"1700000000000.0", "1.7e12", " 1700000000000 "}) {
    same.created_at = time;
    EXPECT_EQ(check(token, same), "valid") << time;
  }
  const auto& zero = vectors[7];
  set({"current_kid", zero.kid, "secret:" + zero.kid, zero.secret});
  auto never = zero.waitpoint;
  never.created_at = "x";
  EXPECT_EQ(check(zero.token, never), "valid");
}

TEST_F(TokenContract, MintRefusesWhatItCannotSign) {
  const auto& waitpoint = vectors[0].waitpoint;
  EXPECT_EQ(mint(waitpoint, ""), "0 invalid_keys_missing_hmac");
  EXPECT_EQ(mint(waitpoint), "0 hmac_secret_not_initialized");
  set({"secret:k1", "aa"});
  EXPECT_EQ(mint(waitpoint), "0 hmac_secret_not_initialized");
  set({"current_kid", "k2"});
  EXPECT_EQ(mint(waitpoint), "0 hmac_secret_not_initialized");
  for (const std::string bad : {"a", "zz", "aag"}) {
    set({"secret:k2", bad});
    EXPECT_EQ(mint(waitpoint), "0 invalid_secret") << bad;
  }
}

TEST_F(TokenContract, CheckRefusesInThisOrder) {
  const auto& [kid, secret, waitpoint, token] = vectors[0];
  const auto digest = token.substr(3);
  EXPECT_EQ(run({"test_check", {""}, {"", "", "", "", "0"}}), "0 invalid_keys_missing_hmac");
  EXPECT_EQ(check("", waitpoint), "0 missing_token");
  for (const auto& bad : {std::string("k1"), ":" + digest, std::string("k1:"), "k1:" + digest + "0",
                          "k1:" + digest.substr(1)})
    EXPECT_EQ(check(bad, waitpoint), "0 invalid_token") << bad;
  EXPECT_EQ(check(token, waitpoint), "0 hmac_secret_not_initialized");
  set({"secret:k1", secret});
  EXPECT_EQ(check(token, waitpoint), "0 hmac_secret_not_initialized");
  set({"current_kid", "k1"});
  remove("secret:k1");
  EXPECT_EQ(check(token, waitpoint), "0 invalid_token");
  EXPECT_EQ(check("k9:" + digest, waitpoint), "0 invalid_token");
  set({"secret:k1", "zz"});
  EXPECT_EQ(check(token, waitpoint), "0 invalid_secret");
  set({"secret:k1", secret});
  EXPECT_EQ(check(token, waitpoint), "valid");
  EXPECT_EQ(check("k1:3F" + digest.substr(2), waitpoint), "0 invalid_token");
  EXPECT_EQ(check("k1:00" + digest.substr(2), waitpoint), "0 invalid_token");
}

TEST_F(TokenContract, TokenOfAnEarlierSecretIsValidUpToItsExpiry) {
  const auto& [kid, secret, waitpoint, token] = vectors[0];
  set({"current_kid", "k2", "secret:k2", "bb", "secret:k1", secret});
  EXPECT_EQ(check(token, waitpoint, "1000"), "0 token_expired");
  for (const std::string bad : {"", "x", "nan", "0", "-5", "999"}) {
    set({"expires_at:k1", bad});
    EXPECT_EQ(check(token, waitpoint, "1000"), "0 token_expired") << bad;
  }
  set({"expires_at:k1", "1000"});
  EXPECT_EQ(check(token, waitpoint, "1000"), "valid");
  EXPECT_EQ(check(token, waitpoint, "1001"), "0 token_expired");
  set({"secret:k1", "zz"});
  EXPECT_EQ(check(token, waitpoint, "1000"), "0 invalid_secret");
}

TEST_F(TokenContract, ExpiryOfTheCurrentSecretIsNotLookedAt) {
  const auto& [kid, secret, waitpoint, token] = vectors[0];
  set({"current_kid", "k1", "secret:k1", secret, "expires_at:k1", "1"});
  EXPECT_EQ(check(token, waitpoint, "1000"), "valid");
}

// ---- Rotation -----------------------------------------------------------------------------------

TEST_F(TokenContract, FirstRotationWritesTwoFields) {
  EXPECT_EQ(run(rotate("k1", "aA")), "1 OK rotated \"\" k1 0");
  EXPECT_EQ(field("current_kid"), "k1");
  EXPECT_EQ(field("secret:k1"), "aA");
  EXPECT_EQ(size(), 2u);
}

TEST_F(TokenContract, RotationKeepsTheSecretBeforeForItsGrace) {
  run(rotate("k1", "aa"));
  const auto before = now();
  EXPECT_EQ(run(rotate("k2", "bb", "5000")), "1 OK rotated k1 k2 0");
  const auto expires_at = std::stoll(field("expires_at:k1"));
  EXPECT_GE(expires_at, before + 5000);
  EXPECT_LE(expires_at, now() + 5000);
  EXPECT_EQ(field("previous_kid"), "k1");
  EXPECT_EQ(field("previous_expires_at"), field("expires_at:k1"));
  EXPECT_EQ(field("expires_at:k2"), "(none)");
  EXPECT_EQ(size(), 6u);
}

TEST_F(TokenContract, RotationRefusesBadArgumentsInThisOrder) {
  run(rotate("k1", "aa"));
  for (const std::string bad : {"", "a:b", ":"})
    expect_refused(rotate(bad, "x", "x"), "0 invalid_kid");
  for (const std::string bad : {"", "a", "abc", "zz", "0x12", "aa "})
    expect_refused(rotate("k2", bad, "x"), "0 invalid_secret_hex");
  for (const std::string bad : {"", "x", "nan", "-1", "1.5", "9007199254740993", "inf"})
    expect_refused(rotate("k2", "bb", bad), "0 invalid_grace_ms");
  expect_refused(rotate("", "", "").cut(0), "0 invalid_kid");
  expect_refused(rotate("k2", "", "").cut(1), "0 invalid_secret_hex");
  expect_refused(rotate("k2", "bb", "").cut(2), "0 invalid_grace_ms");
}

TEST_F(TokenContract, RotationTakesNumbersInAnyForm) {
  EXPECT_EQ(run(rotate("a", "aa", "0")), "1 OK rotated \"\" a 0");
  EXPECT_EQ(run(rotate("b", "bb", "0x10")), "1 OK rotated a b 0");
  EXPECT_EQ(run(rotate("c", "cc", "1e6")), "1 OK rotated b c 0");
}

TEST_F(TokenContract, LongestGraceIsStoredAsAWholeNumber) {
  run(rotate("a", "aa"));
  run(rotate("b", "bb", "9007199254740991"));
  EXPECT_EQ(field("expires_at:a").find_first_not_of("0123456789"), std::string::npos);
}

TEST_F(TokenContract, RotationToTheCurrentSecretChangesNothing) {
  run(rotate("k1", "aabb"));
  expect_refused(rotate("k1", "aabb"), "1 OK noop k1");
  expect_refused(rotate("k1", "AABB"), "1 OK noop k1");
  expect_refused(rotate("k1", "aabbcc"), "0 rotation_conflict k1");
  remove("secret:k1");
  EXPECT_EQ(run(rotate("k1", "cc")), "1 OK noop k1");
  EXPECT_EQ(field("secret:k1"), "cc");
}

TEST_F(TokenContract, RotationRemovesOnlySecretsThatAreNoLongerValid) {
  run(rotate("a", "aa"));
  for (const std::string bad : {"x", "nan", "0", "-1", "1"}) {
    set({"secret:old", "00", "expires_at:old", bad, "secret:young", "11", "expires_at:young",
         far_future});
    const auto kid = "k" + bad;
    EXPECT_TRUE(run(rotate(kid, "bb", "60000")).ends_with(" 1")) << bad;
    EXPECT_EQ(field("secret:old"), "(none)") << bad;
    EXPECT_EQ(field("expires_at:old"), "(none)") << bad;
    EXPECT_EQ(field("secret:young"), "11") << bad;
  }
}

TEST_F(TokenContract, RotationBackNeedsTheSameSecretAndClearsTheExpiry) {
  run(rotate("a", "aa", "60000"));
  run(rotate("b", "bb", "60000"));
  expect_refused(rotate("a", "cc", "60000"), "0 rotation_conflict a");
  EXPECT_EQ(run(rotate("a", "AA", "60000")), "1 OK rotated b a 0");
  EXPECT_EQ(field("expires_at:a"), "(none)");
  EXPECT_EQ(run(rotate("c", "cc", "60000")), "1 OK rotated a c 0");
  EXPECT_EQ(field("secret:a"), "AA");
}

TEST_F(TokenContract, ExpiryThatAnOlderLibraryLeftAtTheCurrentSecretIsIgnored) {
  run(rotate("a", "aa"));
  set({"expires_at:a", "1"});
  EXPECT_EQ(run(rotate("b", "bb", "60000")), "1 OK rotated a b 0");
  EXPECT_EQ(field("secret:a"), "aa");
  EXPECT_GT(std::stoll(field("expires_at:a")), now());
}

TEST_F(TokenContract, KidOfAnExpiredSecretMayBeUsedAgain) {
  run(rotate("b", "bb"));
  set({"secret:a", "aa", "expires_at:a", "1"});
  EXPECT_EQ(run(rotate("a", "cc")), "1 OK rotated b a 1");
  EXPECT_EQ(field("secret:a"), "cc");
  EXPECT_EQ(field("expires_at:a"), "(none)");
}

// ---- Listing ------------------------------------------------------------------------------------

TEST_F(TokenContract, ListOfAnAbsentRingIsEmpty) { EXPECT_EQ(run(list_kids()), "1 OK \"\" 0"); }

TEST_F(TokenContract, ListShowsKidsInGraceAndTheirExpiryAsStored) {
  run(rotate("a", "aa"));
  EXPECT_EQ(run(list_kids()), "1 OK a 0");
  set({"secret:b", "bb", "expires_at:b", "9.5e15", "expires_at:c", "x", "expires_at:d", "0",
       "expires_at:e", "1", "expires_at:f", "nan"});
  EXPECT_EQ(run(list_kids()), "1 OK a 1 b 9.5e15");
  const auto before = store();
  command({"FCALL_RO", "ff_list_waitpoint_hmac_kids", "1", ring_key});
  EXPECT_EQ(store(), before);
}

}  // namespace
}  // namespace ff::test
