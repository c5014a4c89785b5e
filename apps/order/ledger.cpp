// A block of transfers between accounts, in the order of the block: what a ledger has to agree on is what a serial
// program would have done. Each transfer checks its signature, which takes time, and then moves money if there is
// enough. So many of a hundred go to one account that all know. Check: every balance and every receipt as a plain loop
// leaves them, no money made or lost, and as many calls as transfers.
#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "../app.hpp"
#include "random.hpp"
#include "section.hpp"

namespace weft::apps {
namespace {

struct parameters {
  std::size_t accounts = 10'000;
  std::size_t transfers = 10'000;
  std::size_t hot = 10;
  std::size_t rounds = 1000;
  order::section_setting section;
};

struct transfer {
  std::uint64_t from;
  std::uint64_t to;
  std::uint64_t amount;
  std::uint64_t signature;
};

enum outcome : std::uint64_t { not_there, moved, forged, too_poor };

struct ledger {
  std::vector<std::uint64_t> balances;
  std::vector<std::uint64_t> receipts;  // of each transfer its outcome
};

// What stands for the arithmetic of a signature: rounds that depend on each other.
std::uint64_t sign(const transfer& t, std::size_t rounds) {
  std::uint64_t sum = t.from ^ (t.to << 20) ^ (t.amount << 40);
  for (std::size_t i = 0; i < rounds; ++i) sum = (sum ^ (sum >> 29)) * 0xbf58476d1ce4e5b9u + i;
  return sum;
}
constexpr std::uint64_t instructions_per_round = 5;

struct block {
  std::uint64_t* balances;
  std::uint64_t* receipts;
  const transfer* first;
  std::size_t rounds;
};

void commit(ordered_context& x, const block& b, const transfer& t) {
  x.work(instructions_per_round * b.rounds);
  const transfer asked = x.read(t);
  std::uint64_t& receipt = b.receipts[&t - b.first];
  if (sign(asked, b.rounds) != asked.signature) return x.store(receipt, forged);
  const std::uint64_t there = x.load(b.balances[asked.from]);
  if (there < asked.amount) return x.store(receipt, too_poor);
  x.store(b.balances[asked.from], there - asked.amount);
  x.store(b.balances[asked.to], x.load(b.balances[asked.to]) + asked.amount);
  x.store(receipt, moved);
}

std::vector<transfer> make_block(const parameters& p, std::uint64_t seed) {
  constexpr std::uint64_t amount_max = 300, hot_account = 0, forged_one_of = 50;
  order::random_numbers random(seed);
  std::vector<transfer> all(p.transfers);
  for (transfer& t : all) {
    const bool is_hot = random.below(100) < p.hot;
    t = {1 + random.below(p.accounts - 1), is_hot ? hot_account : 1 + random.below(p.accounts - 1),
         random.between(1, amount_max), 0};
    t.signature = sign(t, p.rounds) + (random.below(forged_one_of) == 0 ? 1 : 0);
  }
  return all;
}

void commit_serially(ledger& l, const std::vector<transfer>& all, std::size_t rounds) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const transfer& t = all[i];
    if (sign(t, rounds) != t.signature) {
      l.receipts[i] = forged;
    } else if (l.balances[t.from] < t.amount) {
      l.receipts[i] = too_poor;
    } else {
      l.balances[t.from] -= t.amount;
      l.balances[t.to] += t.amount;
      l.receipts[i] = moved;
    }
  }
}

result run(const parameters& p, const weft::options& opt) {
  constexpr std::uint64_t balance = 1000;
  require_memory("a block of " + std::to_string(p.transfers) + " transfers",
                 static_cast<double>(p.transfers) * 250 + static_cast<double>(p.accounts) * 16);
  runtime rt(opt);
  ordered q(rt, p.section.get());
  const std::vector<transfer> transfers = make_block(p, opt.seed);
  ledger l{std::vector<std::uint64_t>(p.accounts, balance), std::vector<std::uint64_t>(p.transfers, not_there)};
  ledger expected = l;
  const block b{l.balances.data(), l.receipts.data(), transfers.data(), p.rounds};
  result r;
  q.for_each(std::span<const transfer>(transfers), [&b](ordered_context& x, const transfer& t) { commit(x, b, t); });
  order::describe_section(r, rt, q);
  r.add("reference_seconds", order::host_seconds([&] { commit_serially(expected, transfers, p.rounds); }), "s");
  const auto count = [&l](outcome o) { return static_cast<std::uint64_t>(std::ranges::count(l.receipts, o)); };
  r.add("moved", count(moved));
  r.add("forged", count(forged));
  r.add("too_poor", count(too_poor));
  const std::uint64_t all = std::accumulate(l.balances.begin(), l.balances.end(), std::uint64_t{0});
  r.checks.push_back(order::as_serial("balances", l.balances, expected.balances));
  r.checks.push_back(order::as_serial("receipts", l.receipts, expected.receipts));
  r.checks.push_back(
      {"money", all == balance * p.accounts, std::to_string(all) + " of " + std::to_string(balance * p.accounts)});
  r.checks.push_back(order::each_call_once(q, transfers.size()));
  return r;
}

}  // namespace

app ledger_app() {
  auto p = std::make_shared<parameters>();
  return {.name = "ledger",
          .summary = "a block of transfers between accounts, committed in its order",
          .example = "ledger --transfers 10000 --hot 10",
          .options = {{"accounts", "each with the same balance at first", &p->accounts, 2, 100'000'000},
                      {"transfers", "in the block", &p->transfers, 1, 100'000'000},
                      {"hot", "of a hundred transfers, to one account", &p->hot, 0, 100},
                      {"rounds", "of arithmetic that a signature takes; each about a nanosecond", &p->rounds, 0,
                       1'000'000'000},
                      p->section.executor_option()},
          .run = [p](const weft::options& opt, progress&) { return run(*p, opt); }};
}

}  // namespace weft::apps
