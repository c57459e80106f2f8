// Watching what happens.
#include <csignal>

#include "tests/end_to_end/cli_test.hpp"

namespace ff::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class FollowTest : public CliTest {
 protected:
  std::unique_ptr<Process> start(const Words& arguments) {
    return std::make_unique<Process>(ff_command(arguments, {"FF_URL=" + url_}));
  }

  // Where the events stand.
  std::string place() {
    const auto said = ff({"events", "--no-follow"}).err;
    return trimmed(said.substr(said.rfind(' ') + 1));
  }
};

TEST_F(FollowTest, EventsAreTakenUpWhereTheyWereLeft) {
  const auto server = serve("server");
  const auto begin = place();
  const auto a = submit({"k", "--lane", "a"});
  const auto b = submit({"k", "--lane", "b"});
  ff({"cancel", a});

  const auto two = ff({"events", "--after", begin, "--count", "2"});
  EXPECT_THAT(two.out, ::testing::AllOf(HasSubstr(a), HasSubstr(b), Not(HasSubstr("cancelled"))));
  const auto next = trimmed(two.err.substr(two.err.rfind(' ') + 1));
  EXPECT_THAT(out({"events", "--after", next, "--no-follow", "--json"}),
              ::testing::AllOf(HasSubstr(R"("type":"cancelled")"), HasSubstr(uuid_of(a))));
  EXPECT_THAT(out({"events", "--after", begin, "--no-follow", "--lane", "b"}), Not(HasSubstr(a)));
  EXPECT_THAT(out({"events", "--after", begin, "--no-follow", "--types", "cancelled"}),
              Not(HasSubstr(b)));
  EXPECT_EQ(ff({"events", "--types", "exploded"}).exit_code, 2);
  EXPECT_EQ(ff({"events", "--after", "x"}).exit_code, 2);
}

TEST_F(FollowTest, EventsWithoutAPlaceAreThoseFromNowOn) {
  const auto server = serve("server");
  const auto old = submit({"k"});
  const auto events = start({"events", "--json"});
  // Until the program follows, its events are those of before.
  std::string said;
  while (said.empty()) {
    submit({"k", "--lane", "marker"});
    said = events->output_so_far();
  }
  const auto id = submit({"k"});
  said = events->wait_for_output(uuid_of(id));
  EXPECT_THAT(said, Not(HasSubstr(uuid_of(old))));
}

TEST_F(FollowTest, EventsAreThoseOfTheNamespaceThatIsSet) {
  const auto server = serve("server");
  const auto begin = place();
  const auto mine = submit({"k", "--namespace", "mine"}), other = submit({"k"});
  const auto seen = run_ff({"events", "--after", begin, "--no-follow"}, "",
                           {"FF_URL=" + url_, "FF_NAMESPACE=mine"});
  EXPECT_THAT(seen.out, ::testing::AllOf(HasSubstr(mine), Not(HasSubstr(other))));
  EXPECT_THAT(out({"events", "--after", begin, "--no-follow", "--namespace", "mine"}),
              ::testing::AllOf(HasSubstr(mine), Not(HasSubstr(other))));
  EXPECT_THAT(out({"events", "--after", begin, "--no-follow"}),
              ::testing::AllOf(HasSubstr(mine), HasSubstr(other)));
}

TEST_F(FollowTest, EventsAreFollowedUntilASignal) {
  const auto server = serve("server");
  auto events = start({"events", "--after", place()});
  const auto id = submit({"k"});
  events->wait_for_output(id);
  events->signal(SIGINT);
  const auto ended = events->wait();
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_THAT(ended.err, HasSubstr("go on with --after"));
}

TEST_F(FollowTest, WatchOfAnExecutionEndsWithIt) {
  const auto demo = serve("demo");
  const auto good = submit({"add", "1 2", "--lane", "demo"});
  EXPECT_THAT(out({"watch", good}), HasSubstr("completed"));
  EXPECT_THAT(out({"watch", good, "--json"}), HasSubstr(R"("state":"completed")"));
  const auto bad = submit({"add", "x", "--lane", "demo"});
  const auto failed = ff({"watch", bad});
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.out, HasSubstr("failed"));
}

TEST_F(FollowTest, WatchSeesEveryChange) {
  const auto server = serve("server");
  const auto id = submit({"k"});
  auto watch = start({"watch", id});
  watch->wait_for_output("waiting");
  ff({"cancel", id});
  const auto ended = watch->wait();
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.out, ::testing::AllOf(HasSubstr("waiting"), HasSubstr("cancelled")));
}

TEST_F(FollowTest, WatchEndsAtASignalAlthoughItsServerIsSilent) {
  const auto server = serve("server");
  const auto id = submit({"k"});
  auto watch = start({"watch", id});
  watch->wait_for_output("waiting");
  server->signal(SIGSTOP);
  watch->signal(SIGINT);
  const auto ended = watch->wait();
  server->signal(SIGCONT);
  EXPECT_EQ(ended.exit_code, 4);
  EXPECT_THAT(ended.err, HasSubstr("has not ended"));
}

TEST_F(FollowTest, WatchOfALaneDrawsHowThingsStand) {
  const auto server = serve("server");
  const auto id = submit({"k", "--lane", "a"});
  const auto command = program + " watch --lane a --config /dev/null --url " + url_;
  Process watch({"/usr/bin/env", "TERM=xterm", "script", "-qefc", command, "/dev/null"});
  watch.wait_for_output(id);
  ff({"cancel", id});
  EXPECT_THAT(watch.wait_for_output("cancelled"), HasSubstr("\x1b[J"));
}

TEST_F(FollowTest, WatchInAPipePrintsEvents) {
  const auto server = serve("server");
  auto watch = start({"watch"});
  // It follows from a moment that nobody sees, so something is submitted until it is seen.
  std::string said;
  while (said.find("submitted") == std::string::npos) {
    submit({"k"});
    said = watch->output_so_far();
  }
  watch->signal(SIGTERM);
  EXPECT_EQ(watch->wait().exit_code, 0);
}

}  // namespace
}  // namespace ff::test
