#include "base/try.hpp"
#include "cli/engine.hpp"

namespace ff::cli {
namespace {

constexpr std::array worker_columns{FieldColumn{"worker"},
                                    FieldColumn{"state", Column::Fit::keep},
                                    FieldColumn{"lanes"},
                                    FieldColumn{"capabilities"},
                                    FieldColumn{"running", Column::Fit::keep},
                                    FieldColumn{"last_seen_at_ms", Column::Fit::drop}};

// Its executions are only counted.
json::object worker_for_table(const WorkerStatus& worker) {
  auto row = http::to_fields(worker);
  row["state"] = worker.info.draining ? "draining" : "alive";
  row["running"] = worker.running.size();
  return row;
}

std::shared_ptr<Request> request_for_worker(Arguments& arguments) {
  auto request = std::make_shared<Request>();
  arguments.field("worker", *request, "worker", "WORKER", "Its name");
  arguments.of_namespace();
  return request;
}

// The namespace is a setting, known when the command runs.
template <class Op>
Run ask_in_namespace(std::shared_ptr<Request> request) {
  return [request](const Context& context) {
    request->texts["namespace"] = context.settings.text(Setting::ns);
    return ask_and_print<Op>(request)(context);
  };
}

}  // namespace

Run setup_workers_list(Arguments& arguments) {
  arguments.of_namespace();
  arguments.examples("  ff workers list\n  ff workers list --json | jq -r .worker");
  return [](const Context& context) -> Result<ExitCode> {
    Request request;
    request.texts["namespace"] = context.settings.text(Setting::ns);
    const auto list = ask<ListWorkers>(context, request);
    FF_TRY(list);
    std::vector<json::object> rows;
    for (const auto& worker : list->workers)
      rows.push_back(context.json ? http::to_fields(worker) : worker_for_table(worker));
    print_rows(context, worker_columns, rows);
    return ExitCode::ok;
  };
}

Run setup_workers_show(Arguments& arguments) {
  auto request = request_for_worker(arguments);
  arguments.examples("  ff workers show WORKER");
  return ask_in_namespace<GetWorker>(request);
}

Run setup_workers_drain(Arguments& arguments) {
  struct Given {
    std::shared_ptr<Request> request;
    bool undo = false;
  };
  auto given = std::make_shared<Given>();
  given->request = request_for_worker(arguments);
  arguments.flag("--undo", given->undo, "Give it work again");
  arguments.examples(
      "  ff workers drain WORKER            (it finishes what it has)\n"
      "  ff workers drain WORKER --undo");
  return [given](const Context& context) {
    given->request->set("draining", !given->undo);
    return ask_in_namespace<DrainWorker>(given->request)(context);
  };
}

}  // namespace ff::cli
