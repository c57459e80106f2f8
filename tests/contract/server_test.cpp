// Signs of life of the processes that share a store.
#include "tests/contract/fixture.hpp"

namespace ff::test {
namespace {

class Servers : public Contract {
 protected:
  const std::string key = "ff:servers:{servers}";

  std::string beat(const std::string& now, const std::string& process, const std::string& lives,
                   const std::string& letters) {
    return run({.name = "ff_server_beat", .keys = {key}, .argv = {now, process, lives, letters}});
  }
};

TEST_F(Servers, LearnOfEachOther) {
  EXPECT_EQ(beat("1000", "a", "3000", "sc"), "1 OK a sc 3000");
  beat("1500", "b", "3000", "s");
  const auto reply = beat("2000", "a", "3000", "sc");
  EXPECT_TRUE(reply == "1 OK a sc 3000 b s 2500" || reply == "1 OK b s 2500 a sc 3000") << reply;
}

TEST_F(Servers, AreForgottenWhenTheyFallSilent) {
  beat("1000", "a", "3000", "sc");
  beat("3999", "b", "3000", "sc");
  EXPECT_EQ(beat("4000", "b", "3000", "sc"), "1 OK b sc 3000");
  EXPECT_EQ(*command({"HLEN", key}).as_int(), 1);
}

TEST_F(Servers, SayThatTheyEnd) {
  beat("1000", "a", "3000", "sc");
  EXPECT_EQ(beat("1001", "a", "0", "sc"), "1 OK");
  EXPECT_EQ(*command({"EXISTS", key}).as_int(), 0);
}

}  // namespace
}  // namespace ff::test
