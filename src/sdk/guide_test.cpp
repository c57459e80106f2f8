// The samples of docs/cpp.md, flows.md, starting.md, streams.md and suspensions.md, which show the code between two
// lines `// [name]`, and a look at whether they still do.
#include <flowfabric/wait.hpp>

#include <fstream>
#include <iostream>
#include <latch>
#include <regex>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/json.hpp>

#include "sdk/sdk_fixture.hpp"
#include "tests/support/paths.hpp"

namespace ff {
namespace {

// ---- The samples --------------------------------------------------------------------------------

// [json]
ff::Outcome resize(ff::Task& task) {
  const auto request = task.json();  // with <boost/json.hpp>
  const auto width = request.at("width").as_int64();
  const boost::json::object reply{{"pixels", width * width}};
  return ff::Outcome::completed(boost::json::serialize(reply), "application/json");
}
// [json]

bool printer_is_free = false;

// [delay]
ff::Outcome print_label(ff::Task& task) {
  if (!printer_is_free) return ff::Outcome::delayed(30s);  // the same attempt goes on then
  return "printed " + task.text();
}
// [delay]

void do_step(int) {}

// [steps]
ff::Outcome import_rows(ff::Task& task) {
  for (int step = 0; step < 100; ++step) {
    task.throw_if_cancelled();
    do_step(step);
    task.progress(static_cast<std::uint32_t>(step + 1));
  }
  return {};
}
// [steps]

// [awaitable]
ff::Async<std::string> greet(ff::Engine& engine, std::string name) {
  ff::Submit submit{.kind = ff::must(ff::Kind::parse("greet")), .payload = std::move(name)};
  const auto submitted = co_await engine.run(std::move(submit));
  if (!submitted) co_return std::unexpected(submitted.error());
  co_return co_await ff::wait_for_result(engine, submitted->id, 30s);
}
// [awaitable]

class GuideTest : public ::testing::Test {
 protected:
  ServerHome server_;
  std::shared_ptr<Engine> opened_ = must(ff::open(server_.url()));
  Engine& engine = *opened_;
};

TEST_F(GuideTest, Opening) {
  const auto url = server_.url();
  // [open]
  const auto opened = ff::open(url);
  if (!opened) {
    std::cerr << opened.error().name() << ": " << opened.error().message << '\n';
    return;
  }
  ff::Engine& the_engine = **opened;
  // [open]
  EXPECT_TRUE(Client(the_engine).submit({.kind = "k"}));
}

TEST_F(GuideTest, SubmittingAndWaiting) {
  // [worker]
  ff::Worker worker(engine, {.lanes = {"mail"}, .concurrency = 8, .lease_ttl = 20s});
  worker.handle("welcome", [](ff::Task& task) { return "Welcome, " + task.text() + "!"; });
  worker.handle("resize", resize);
  ff::must(worker.start());
  // [worker]

  // [submit]
  ff::Client client(engine, {.timeout = 10s});
  const auto submitted = ff::must(client.submit(
      {.kind = "welcome",
       .payload = "Ada",
       .lane = "mail",
       .priority = 10,
       .idempotency_key = "welcome-ada",
       .tags = {{"mail.customer", "ada"}},
       .policy = {.retry = ff::RetryPolicy{.max_retries = 5}, .attempt_timeout = 30s}}));
  // [submit]

  // [wait]
  const auto result = client.result(submitted.id, 30s);
  if (result)
    std::cout << *result << '\n';
  else if (result.error().code == ff::Errc::execution_failed)
    std::cout << "it failed: " << result.error().message << '\n';
  else  // execution_not_terminal: not yet; unreachable, timed_out: nobody knows
    std::cout << "no result: " << result.error().message << '\n';
  // [wait]
  EXPECT_EQ(result, "Welcome, Ada!");

  const auto resized =
      must(client.submit({.kind = "resize", .payload = R"({"width":3})", .lane = "mail"}));
  EXPECT_EQ(client.result(resized.id, 30s), R"({"pixels":9})");
}

TEST_F(GuideTest, ManyAtOnce) {
  ff::Client client(engine);
  // [submit_many]
  std::vector<ff::NewExecution> letters;
  for (const char* name : {"Ada", "Grace"})
    letters.push_back({.kind = "welcome", .payload = name, .lane = "mail"});
  for (const auto& reply : client.submit_many(letters))
    if (!reply) std::cerr << "refused: " << reply.error().message << '\n';
  // [submit_many]

  std::size_t waiting = 0;
  // [list]
  const auto show = [&](const ff::ExecutionInfo& execution) {
    std::cout << execution.id.str() << ' ' << to_string(execution.state) << '\n';
    return ++waiting < 1000;  // false: that is enough
  };
  ff::must(client.for_each(
      {.lane = ff::must(ff::LaneId::parse("mail")), .state = ff::ExecutionState::waiting}, show));
  // [list]
  EXPECT_EQ(waiting, 2u);
}

TEST_F(GuideTest, Subscribing) {
  ff::Client client(engine);
  std::stop_source stop;
  std::latch heard(1);
  auto place = must(client.events()).next;
  must(client.submit({.kind = "k"}));
  // [subscribe]
  std::jthread subscriber([&] {
    const ff::Subscriber tell{.on_event =
                                  [&](const ff::Event& event) {
                                    std::cout << to_string(event.type) << ' ' << event.id.str()
                                              << '\n';
                                    heard.count_down();
                                    return true;
                                  },
                              .on_missed = [] { std::cout << "look at everything anew\n"; }};
    ff::must(client.subscribe({.after = place}, tell, stop.get_token()));
  });
  // [subscribe]
  heard.wait();
  stop.request_stop();
}

TEST_F(GuideTest, DelayingAndStopping) {
  Client client(engine);
  {
    // [stop]
    ff::Worker worker(engine, {.drain_limit = 5s});
    worker.handle("label", print_label);
    worker.handle("import", import_rows);
    ff::must(worker.start());
    // …
    worker.stop();
    // [stop]
    must(worker.start());
    EXPECT_EQ(must(client.wait(must(client.submit({.kind = "import"})).id, 30s)).progress->percent,
              100u);
    const auto id = must(client.submit({.kind = "label", .payload = "7"})).id;
    wait_until([&] { return client.state(id) == ExecutionState::delayed; });
  }
}

TEST_F(GuideTest, Signalling) {
  Client client(engine);
  Worker worker(engine);
  worker.handle("ship", [](Task& task) -> Outcome { return task.wait_for("paid").text(); });
  must(worker.start());
  const auto id = must(client.submit({.kind = "ship"})).id;
  // [signal]
  const auto reply = ff::must(client.signal(id, {.name = "paid",
                                                 .payload = R"({"euros": 7})",
                                                 .content_type = "application/json",
                                                 .source = {.type = "service", .identity = "shop"},
                                                 .idempotency_key = "invoice-7"}));
  if (reply.effect == ff::SignalEffect::resume_condition_satisfied) std::cout << "it goes on\n";
  // [signal]
  EXPECT_EQ(client.result(id, 30s), R"({"euros": 7})");
}

TEST_F(GuideTest, Awaiting) {
  Worker worker(engine);
  worker.handle("greet", [](Task& task) { return "Hello, " + task.payload() + "!"; });
  must(worker.start());
  // [run_awaitable]
  boost::asio::io_context context;
  auto greeting = boost::asio::co_spawn(context, greet(engine, "Ada"), boost::asio::use_future);
  context.run();
  // [run_awaitable]
  EXPECT_EQ(greeting.get(), "Hello, Ada!");
}

TEST_F(GuideTest, Streaming) {
  Worker worker(engine);
  // [stream]
  worker.handle("tell", [](Task& task) -> Outcome {
    auto words = task.stream();
    for (const char* word : {"once ", "upon ", "a ", "time"}) words.write(word);
    return "done";
  });
  // [stream]
  must(worker.start());
  Client client(engine);
  const auto told = must(client.submit({.kind = "tell"}));
  std::string text;
  // [tail]
  const auto next = client.tail({.id = told.id}, [&](const Frame& frame) {
    text += frame.bytes;
    return true;  // go on
  });
  // [tail]
  EXPECT_EQ(text, "once upon a time");
  EXPECT_EQ(must(next), 4u);
}

// ---- The guide ----------------------------------------------------------------------------------

std::vector<std::string> lines_of(const std::string& file) {
  std::ifstream in(test::source_dir() / file);
  EXPECT_TRUE(in) << file;
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The lines between the two that say `// [name]`, without their common indentation; or all of the file.
std::string sample(const std::string& file, const std::string& name) {
  std::vector<std::string> lines;
  bool inside = name.empty();
  for (auto& line : lines_of(file)) {
    if (!name.empty() && line.ends_with("// [" + name + "]"))
      inside = !inside;
    else if (inside)
      lines.push_back(std::move(line));
  }
  auto indent = std::string::npos;
  for (const auto& line : lines)
    if (!line.empty()) indent = std::min(indent, line.find_first_not_of(' '));
  std::string text;
  for (const auto& line : lines) text += (line.empty() ? line : line.substr(indent)) + '\n';
  return text;
}

// Each C++ block stands below `<!-- file [name] -->` or `<!-- file -->`.
int expect_compiled_blocks(const std::string& file) {
  const std::regex source("<!-- (\\S+)(?: \\[(\\w+)\\])? -->");
  std::smatch shown;
  std::string above, block;
  bool inside = false;
  int blocks = 0;
  for (const auto& line : lines_of(file)) {
    if (inside && line == "```") {
      inside = false;
      EXPECT_EQ(block, sample(shown[1], shown[2])) << above;
      ++blocks;
    } else if (inside) {
      block += line + '\n';
    } else if (line == "```cpp") {
      EXPECT_TRUE(std::regex_match(above, shown, source))
          << "a block without its source: " << above;
      inside = true;
      block.clear();
    } else {
      above = line;
    }
  }
  return blocks;
}

TEST(Guide, ShowsCodeThatIsCompiled) {
  EXPECT_GT(expect_compiled_blocks("docs/cpp.md"), 10);
  EXPECT_EQ(expect_compiled_blocks("docs/starting.md"), 3);
  EXPECT_EQ(expect_compiled_blocks("docs/suspensions.md"), 3);
  EXPECT_EQ(expect_compiled_blocks("docs/flows.md"), 7);
  EXPECT_EQ(expect_compiled_blocks("docs/streams.md"), 2);
}

TEST(Guide, NamesEveryStateOfAnExecution) {
  std::string table;
  for (const auto& line : lines_of("docs/executions.md"))
    if (line.starts_with("| `")) table += line + '\n';
  for (int i = 0; i <= static_cast<int>(ExecutionState::skipped); ++i)
    EXPECT_THAT(table, HasSubstr(fmt::format("`{}`", to_string(static_cast<ExecutionState>(i)))));
}

}  // namespace
}  // namespace ff
