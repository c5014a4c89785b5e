// A file is packed as bzip2 does it, block by block: read -> pack -> verify -> write. Blocks are packed side by side,
// and written in the order in which they were read, because elements of a stream are matched in that order and the
// writer keeps the file. How far reading runs ahead is bounded by a stream as well: who reads pops a credit, and who
// writes gives it back.
// Checks: each packed block is unpacked and compared before it is written; what was written is read again, unpacked and
// compared with the input, before the output gets its name.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "../app.hpp"
#include "../near/sweep.hpp"
#include "bzip2.hpp"
#include "files.hpp"
#include "pipeline.hpp"

namespace weft::apps {
namespace {

using namespace pipeline;

// Of a byte, on modelled machines; docs/guide/47-stream-programs.md.
constexpr double cycles_to_read = 4, cycles_to_pack = 360, cycles_to_verify = 130, cycles_to_write = 0.5;

struct parameters {
  std::string input, output;
  std::size_t bytes = std::size_t{8} << 20, block = 900'000, ahead = 0;
};

struct packed {
  std::vector<char> bytes;
};
struct credit {};

// Words of a small vocabulary, those that come first more often.
void write_text(std::size_t block, std::span<char> to) {
  constexpr std::size_t words = 2000;
  std::size_t turn = block << 32;
  for (std::size_t at = 0; at < to.size();) {
    const double chance = near::noise(turn++);
    auto word = static_cast<std::size_t>(chance * chance * chance * words);
    for (std::size_t letters = 2 + word % 7; letters-- > 0 && at < to.size(); word = word * 31 + 7)
      to[at++] = static_cast<char>('a' + word % 26);
    if (at < to.size()) to[at++] = turn % 12 == 0 ? '\n' : ' ';
  }
}

// What is packed: a file, or text that nobody has to give.
class source {
 public:
  source(const parameters& p) : block_(p.block), size_(p.bytes) {
    if (p.input.empty()) return;
    file_.emplace(p.input);
    size_ = file_->size();
    if (!p.output.empty() && file_->is_at(p.output))
      throw error("compress: --output " + p.output + " is the input; give it another name");
  }
  [[nodiscard]] bool is_at(const std::string& path) const { return file_ && file_->is_at(path); }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::size_t blocks() const { return size_ == 0 ? 1 : (size_ + block_ - 1) / block_; }
  [[nodiscard]] std::size_t size_of(std::size_t b) const {
    return static_cast<std::size_t>(std::min<std::uint64_t>(block_, size_ - b * block_));
  }
  void read(std::size_t b, std::span<char> to) const {
    file_ ? file_->read(std::uint64_t{b} * block_, to) : write_text(b, to);
  }

 private:
  std::size_t block_;
  std::uint64_t size_;
  std::optional<input_file> file_;
};

// Blocks of which at most so many were read and not yet written.
class in_flight {
 public:
  void begin() {
    const std::size_t now = ++now_;
    for (std::size_t before = most_; before < now && !most_.compare_exchange_weak(before, now);) {
    }
  }
  void end() { --now_; }
  [[nodiscard]] std::size_t most() const { return most_; }

 private:
  std::atomic<std::size_t> now_{0}, most_{0};
};

class packing {
 public:
  packing(const source& from, const std::string& output, std::size_t ahead, progress& bar)
      : from_(from), ahead_(std::min(ahead, from.blocks())), ran_(4 * from.blocks()), bar_(bar) {
    if (!output.empty()) to_.emplace(output);
  }

  void submit(runtime& rt) {
    rt.submit(named("open"), push(credits_, ahead_), [](std::span<credit>) {});
    for (std::size_t b = 0; b < from_.blocks(); ++b) submit_block(rt, b);
    credits_.discard(ahead_);
  }
  // Errors: weft::error if a stream is left with anything, or the output cannot be written.
  void end() { credits_.end(), raw_.end(), packed_.end(), verified_.end(); }
  void finish() {
    if (to_) to_->finish();
  }
  [[nodiscard]] std::uint64_t written() const { return written_; }
  [[nodiscard]] std::size_t ahead() const { return ahead_; }
  [[nodiscard]] std::vector<check> checks() const {
    const std::size_t most = in_flight_.most();
    return {
        each_once(ran_),
        {"bounded", most <= ahead_, std::to_string(most) + " blocks at a time, allowed are " + std::to_string(ahead_)},
        compare_output()};
  }

 private:
  void count_body(std::size_t b, std::size_t step) { ++ran_[4 * b + step]; }
  void submit_block(runtime& rt, std::size_t b) {
    const std::size_t n = from_.size_of(b);
    const auto of_bytes = [n](double each) { return cycles(each * static_cast<double>(n)); };
    rt.submit(named("read"), of_bytes(cycles_to_read), pop(credits_, 1), push(raw_, n),
              [this, b](std::span<const credit>, std::span<char> out) {
                count_body(b, 0);
                in_flight_.begin();
                from_.read(b, out);
              });
    rt.submit(named("pack"), of_bytes(cycles_to_pack), peek(raw_, n), push(packed_, 1),
              [this, b](std::span<const char> in, std::span<packed> out) {
                count_body(b, 1);
                out[0].bytes = pack(in);
              });
    rt.submit(named("verify"), of_bytes(cycles_to_verify), pop(raw_, n), reuse(packed_, verified_, 1),
              [this, b](std::span<const char> in, std::span<packed> block) {
                count_body(b, 2);
                const std::vector<char> again = unpack(block[0].bytes, in.size());
                if (!std::ranges::equal(again, in))
                  throw error("compress: block " + std::to_string(b) + " is not what it was when it is unpacked");
              });
    rt.submit(named("write"), of_bytes(cycles_to_write), pop(verified_, 1), push(credits_, 1), write(file_),
              [this, b](std::span<const packed> in, std::span<credit>) {
                count_body(b, 3);
                if (to_) to_->write(in[0].bytes);
                written_ += in[0].bytes.size();
                if (!to_) kept_.insert(kept_.end(), in[0].bytes.begin(), in[0].bytes.end());
                in_flight_.end();
                bar_.report(static_cast<double>(b + 1) / static_cast<double>(from_.blocks()));
              });
  }

  [[nodiscard]] check compare_output() const {
    std::vector<char> all = kept_;
    if (to_) all.resize(to_->size()), to_->read(0, all);
    const std::vector<char> again = unpack_all(all, from_.size());
    std::vector<char> block;
    std::size_t different = again.size() == from_.size() ? 0 : 1;
    for (std::size_t b = 0, at = 0; b < from_.blocks() && different == 0; ++b, at += block.size()) {
      block.resize(from_.size_of(b));
      from_.read(b, block);
      different += !std::ranges::equal(block, std::span(again).subspan(at, block.size()));
    }
    return {to_ ? "output_unpacks_to_input" : "packed_unpacks_to_input", different == 0,
            std::to_string(again.size()) + " bytes of " + std::to_string(from_.size())};
  }

  const source& from_;
  const std::size_t ahead_;
  std::vector<std::uint8_t> ran_;
  in_flight in_flight_;
  handle<void> file_;
  std::optional<output_file> to_;
  std::vector<char> kept_;  // without an output file
  std::uint64_t written_ = 0;
  stream<credit> credits_{"credits"};
  stream<char> raw_{"raw"};
  stream<packed> packed_{"packed"}, verified_{"verified"};
  progress& bar_;
};

// A trace may be the input, as any file, and then a new one must not take its place. Errors: weft::error.
void keep_apart(const source& from, const std::string& output, const weft::options& opt) {
  const char* const set = std::getenv("WEFT_TRACE");
  const std::string trace = opt.trace != nullptr ? opt.trace : set != nullptr ? set : "";
  if (trace.empty()) return;
  if (from.is_at(trace)) throw error("compress: the trace " + trace + " would replace the input; give it another name");
  namespace fs = std::filesystem;
  std::error_code none;  // where a path leads nowhere, the two are not the same
  if (!output.empty() && fs::weakly_canonical(trace, none) == fs::weakly_canonical(output, none))
    throw error("compress: --output " + output + " is the file of the trace; give it another name");
}

result run(const parameters& p, const weft::options& opt, progress& bar) {
  if (!has_bzip2()) static_cast<void>(pack({}));  // says why not, before anything is read
  const source from(p);
  keep_apart(from, p.output, opt);
  require_memory("compress", 2.5 * static_cast<double>(from.size()));  // it is all unpacked once more to compare
  runtime rt(opt);
  packing work(from, p.output, p.ahead != 0 ? p.ahead : 2 * rt.workers() + 2, bar);
  const double start = rt.now_ns();
  work.submit(rt);
  rt.wait();
  result r;
  r.seconds = (rt.now_ns() - start) * 1e-9;
  work.end();
  r.checks = work.checks();
  if (r.ok()) work.finish();
  r.describe(rt);
  r.add("input", p.input.empty() ? std::string("text") : p.input);
  r.add("output", p.output.empty() ? std::string("none") : p.output);
  r.add("bytes", from.size());
  r.add("packed_bytes", work.written());
  r.add("blocks", std::uint64_t{from.blocks()});
  r.add("ahead", std::uint64_t{work.ahead()});
  r.add("buffers_peak_bytes", std::uint64_t{node_memory().peak});
  r.add("mb_per_second", static_cast<double>(from.size()) / 1e6 / r.seconds);
  return r;
}

}  // namespace

app compress_app() {
  auto p = std::make_shared<parameters>();
  return {.name = "compress",
          .summary = "packs a file as bzip2 does, blocks side by side and written in order",
          .example = "compress --input access.log --output access.log.bz2",
          .options = {{"input", "file to pack; none: a text that is made up", &p->input},
                      {"output", "where to; none: packed and checked in memory", &p->output},
                      {"bytes", "of the text that is made up", &p->bytes, 0, std::size_t{1} << 36, "input"},
                      {"block", "bytes that are packed together", &p->block, 1, std::size_t{1} << 28},
                      {"ahead", "blocks that are read and not yet written, at most; 0: two a worker and two more",
                       &p->ahead, 0, 100'000}},
          .run = [p](const weft::options& opt, progress& bar) { return run(*p, opt, bar); }};
}

}  // namespace weft::apps
