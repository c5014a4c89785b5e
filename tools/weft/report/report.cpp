// `weft report FILE`: what a recorded run did with its time, in tables, as JSON, and as a page to look around in.
#include "apps/progress.hpp"
#include "compare.hpp"
#include "page.hpp"
#include "text.hpp"
#include "tools/weft/command.hpp"
#include "tools/weft/output.hpp"
#include "tools/weft/output_file.hpp"

namespace weft::tool {

namespace {

// Shares of the whole, as measured for 10^6 tasks with 3 accesses each.
constexpr double loaded = 0.5;
constexpr double analysed = 0.8;

class report_command final : public command {
 public:
  explicit report_command(const command_line& root) {
    line_ = root.add_subcommand("report", "Tell what a recorded run did with its time");
    line_.add_option("FILE", path_, "Trace of a run").required().type_name("");
    line_.add_option("OTHER", other_, "Trace of another run, to compare the first with").type_name("");
    line_.add_option("--html", page_, "Write a page with a timeline to look around in").type_name("OUT");
    line_.add_flag("--json", json_, "One JSON object on stdout");
    line_.footer("Example:\n  weft run cholesky --n 2048 --trace run.weft\n"
                 "  weft report run.weft --html run.html\n"
                 "  weft report before.weft after.weft");
  }

  int run() override {
    if (!other_.empty() && !page_.empty())
      throw weft::error("report: --html is for one run; leave out OTHER, or make a page of each");
    keep_apart("report", {{"the trace", path_}}, {{"--html", page_}});
    demand_writable("--html", page_);
    if (!other_.empty()) return compare();
    apps::progress bar("weft report", stderr);
    bar.section(0, loaded);
    const trace::file file = trace::load(path_, [&bar](double done) { bar.report(done); });
    bar.section(loaded, analysed);
    const report::analysis a = report::analyse(
        file, [](void* to, double done) { static_cast<apps::progress*>(to)->report(done); }, &bar);
    if (!page_.empty()) report::write_page(page_, file, a);
    bar.finish();
    write_stdout(json_ ? as_json(file, a) : as_text(file, a));
    return exit_ok;
  }

 private:
  int compare() const {
    apps::progress bar("weft report", stderr);
    const auto load = [&bar](const std::string& path, double from) {
      bar.section(from, from + 0.3);
      return trace::load(path, [&bar](double done) { bar.report(done); });
    };
    const trace::file a = load(path_, 0), b = load(other_, 0.5);
    const report::analysis first = report::analyse(a), second = report::analyse(b);
    bar.finish();
    const report::run x{a, first}, y{b, second};
    write_stdout(json_ ? json_text(compared_json(x, y)) : compared_text(x, y, colour_wanted()));
    return exit_ok;
  }

  std::string as_json(const trace::file& file, const report::analysis& a) const {
    json out = report::to_json(file, a);
    out["html"] = page_.empty() ? json(nullptr) : json(page_);
    return json_text(out);
  }

  std::string as_text(const trace::file& file, const report::analysis& a) const {
    std::string out = report::text(file, a, colour_wanted());
    if (!page_.empty()) out += "\npage: " + page_ + "\n";
    return out;
  }

  std::string path_, other_;
  std::string page_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<command> make_report_command(const command_line& root) {
  return std::make_unique<report_command>(root);
}

}  // namespace weft::tool
