#include "http/wire/problem.hpp"

#include <gtest/gtest.h>

namespace ff::http {
namespace {

TEST(Problem, CarriesTheWholeError) {
  const Error error{Errc::invalid_input, "lane is wrong", {{"field", "lane"}}};
  const auto text = boost::json::serialize(to_problem(error));
  EXPECT_EQ(text, R"({"title":"invalid_input","status":400,"code":"invalid_input",)"
                  R"("detail":"lane is wrong","retryable":false,"field":"lane"})");
  EXPECT_EQ(from_problem(400, text), error);
  EXPECT_EQ(from_problem(to_problem(error)), error);
}

TEST(Problem, NumbersAreNumbers) {
  const Error error{Errc::stream_sequence_gap,
                    "a gap",
                    {{.name = "written", .value = "18446744073709551615", .is_number = true}}};
  const auto text = boost::json::serialize(to_problem(error));
  EXPECT_NE(text.find(R"("written":18446744073709551615)"), std::string::npos) << text;
  EXPECT_EQ(from_problem(409, text), error);
}

TEST(Problem, IsNoneWithoutAKnownCode) {
  EXPECT_EQ(from_problem(boost::json::object{}), std::nullopt);
  EXPECT_EQ(from_problem(boost::json::object{{"code", "never_heard"}}), std::nullopt);
}

TEST(Problem, FromSomethingElseIsAMalformedResponse) {
  for (const char* body :
       {"", "<html>", "[]", "{}", R"({"code":"never_heard"})", R"({"code":7})"}) {
    const auto error = from_problem(418, body);
    EXPECT_EQ(error.code, Errc::malformed_response) << body;
    EXPECT_EQ(from_problem(502, body).code, Errc::unreachable) << body;
    EXPECT_NE(error.message.find("418"), std::string::npos);
  }
}

}  // namespace
}  // namespace ff::http
