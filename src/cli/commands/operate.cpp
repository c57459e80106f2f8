// Commands that change one execution.
#include "base/try.hpp"
#include "cli/engine.hpp"

namespace ff::cli {
namespace {

using SharedRequest = std::shared_ptr<Request>;

SharedRequest request_for_execution(Arguments& arguments) {
  auto request = std::make_shared<Request>();
  arguments.execution(*request);
  return request;
}

}  // namespace

Run setup_cancel(Arguments& arguments) {
  auto request = request_for_execution(arguments);
  arguments.field("--reason", *request, "reason", "TEXT", "Why, for those who ask later");
  arguments.examples("  ff cancel ID --reason 'wrong customer'");
  return ask_and_print<Cancel>(request);
}

Run setup_replay(Arguments& arguments) {
  auto request = request_for_execution(arguments);
  arguments.field("--reason", *request, "reason", "TEXT", "Why, for those who ask later");
  arguments.field("--requested-by", *request, "requested_by", "NAME", "Who wants it");
  arguments.examples("  ff replay ID --reason 'the disk is mended'");
  return ask_and_print<Replay>(request);
}

Run setup_priority(Arguments& arguments) {
  auto request = request_for_execution(arguments);
  arguments.field("priority", *request, "priority", "NUMBER", "0 to 9000, higher runs first");
  arguments.examples("  ff priority ID 100");
  return ask_and_print<ChangePriority>(request);
}

Run setup_revoke(Arguments& arguments) {
  auto request = request_for_execution(arguments);
  arguments.field("--lease", *request, "lease_id", "UUID", "Only if its lease is this one");
  arguments.field("--reason", *request, "reason", "TEXT", "Why, for those who ask later");
  arguments.examples("  ff revoke ID --reason 'the worker hangs'");
  return ask_and_print<RevokeLease>(request);
}

Run setup_tags(Arguments& arguments) {
  auto request = request_for_execution(arguments);
  arguments.pairs_field("set", *request, "set", "Tags to set");
  arguments.field("--remove", *request, "remove", "KEYS", "Tags to remove, comma-separated");
  arguments.examples(
      "  ff tags ID                          (shows them)\n"
      "  ff tags ID billing.customer=7 billing.paid=yes\n"
      "  ff tags ID --remove billing.paid");
  return [request](const Context& context) -> Result<ExitCode> {
    const bool changes = request->values.contains("set") || request->texts.contains("remove");
    TagsReply tags;
    if (changes) {
      auto changed = ask<SetTags>(context, *request);
      FF_TRY(changed);
      tags = std::move(*changed);
    } else {
      auto execution = ask<GetExecution>(context, *request);
      FF_TRY(execution);
      tags.tags = std::move(execution->tags);
    }
    const auto fields = http::to_fields(tags);
    print_object(context, context.json ? fields : fields.at("tags").get_object());
    return ExitCode::ok;
  };
}

}  // namespace ff::cli
