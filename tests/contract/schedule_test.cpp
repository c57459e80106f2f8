// Schedules: the engine's functions, called raw.
#include "tests/contract/fixture.hpp"

namespace ff::test {
namespace {

const std::string schedule = "ff:schedule:{b:3}:default/nightly";
const std::string name_index = "ff:idx:{b:3}:schedules:default";
const std::string due = "ff:idx:{b:3}:schedules_due";

Call swap(const std::string& expected, const std::string& version, const std::string& record = "r",
          const std::string& due_at = "") {
  return {"ff_schedule_swap", {schedule}, {"1000", expected, version, record, due_at}};
}
Call get() { return {"ff_schedule_get", {schedule}, {"1000"}}; }

class ScheduleContract : public Contract {
 protected:
  // The reply to a change without the name of the server's run.
  std::string ask(const Call& call) {
    const auto text = run(call);
    return text.substr(0, text.rfind(' '));
  }
};
using Fields = std::map<std::string, std::string>;

TEST_F(ScheduleContract, SwapWritesTheRecordAndItsIndexes) {
  EXPECT_EQ(ask(swap("", "v1", "one", "5000")), "1 OK 1");
  EXPECT_EQ(store()[schedule], (Fields{{"record", "one"}, {"version", "v1"}}));
  EXPECT_EQ(store()[name_index], (Fields{{"nightly", "0"}}));
  EXPECT_EQ(store()[due], (Fields{{"default/nightly", "5000"}}));
  EXPECT_EQ(ask(swap("v1", "v2", "two")), "1 OK 1");
  EXPECT_EQ(store()[schedule], (Fields{{"record", "two"}, {"version", "v2"}}));
  EXPECT_EQ(store()[due], Fields{}) << "never due";
}

TEST_F(ScheduleContract, AnotherVersionIsLeftAlone) {
  EXPECT_EQ(ask(swap("v0", "v1")), "1 OK 0") << "there is none";
  ask(swap("", "v1", "one", "5000"));
  const auto before = store();
  EXPECT_EQ(ask(swap("", "v2", "two")), "1 OK 0");
  EXPECT_EQ(ask(swap("v0", "v2", "two")), "1 OK 0");
  EXPECT_EQ(ask(swap("v0", "")), "1 OK 0");
  EXPECT_EQ(store(), before);
}

TEST_F(ScheduleContract, ARemovedOneLeavesNothing) {
  ask(swap("", "v1", "one", "5000"));
  EXPECT_EQ(ask(swap("v1", "")), "1 OK 1");
  EXPECT_EQ(store(), Store{});
}

TEST_F(ScheduleContract, WrongArgumentsChangeNothing) {
  EXPECT_EQ(run(swap("", "v1", "r", "soon")).substr(0, 15), "0 invalid_input");
  EXPECT_EQ(run(swap("", "v1").key(1, "ff:budget:{b:3}:x")).substr(0, 15), "0 invalid_input");
  EXPECT_EQ(store(), Store{});
}

TEST_F(ScheduleContract, GetShowsRecordAndVersion) {
  EXPECT_EQ(run(get()), "1 OK");
  ask(swap("", "v1", "one"));
  EXPECT_EQ(run(get()), "1 OK one v1");
}

TEST_F(ScheduleContract, ASweepFindsTheEarliestOfEachPartition) {
  ask(swap("", "v1", "one", "5000"));
  ask(swap("", "v1", "one", "4000").key(1, "ff:schedule:{b:4}:other/x"));
  EXPECT_EQ(run({"ff_sweep_schedules", {}, {"10", "{b:3}", "{b:4}", "{b:5}"}}),
            "1 OK [] default/nightly 5000 other/x 4000");
}

}  // namespace
}  // namespace ff::test
