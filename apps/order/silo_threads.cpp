// Threads have home warehouses, as the benchmark's terminals do: with more threads than warehouses, each warehouse has
// as many threads as another, side by side on the chip; otherwise each thread has as many warehouses. Threads of one
// home take its requests in the order in which they come. Who finds none left helps elsewhere, so that all end
// together.
#include "silo_threads.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "random.hpp"

namespace weft::apps::order {
namespace {

enum class table : std::uint64_t { warehouses, districts, customers, stocks, orders, order_lines, receipts };

[[nodiscard]] std::uint64_t key_of(table in, std::uint64_t index) {
  return static_cast<std::uint64_t>(in) << 56 | index;
}
[[nodiscard]] record record_of(warehouse& w, std::uint64_t i) {
  return {key_of(table::warehouses, i), &w.tid.value, {&w.paid, &w.tax}};
}
[[nodiscard]] record record_of(district& d, std::uint64_t i) {
  return {key_of(table::districts, i), &d.tid.value, {&d.paid, &d.orders}};
}
[[nodiscard]] record record_of(customer& c, std::uint64_t i) {
  return {key_of(table::customers, i), &c.tid.value, {&c.owes, &c.paid, &c.payments}};
}
[[nodiscard]] record record_of(stock& k, std::uint64_t i) {
  return {key_of(table::stocks, i), &k.tid.value, {&k.quantity, &k.sold, &k.orders, &k.from_elsewhere}};
}
[[nodiscard]] record record_of(order_head& o, std::uint64_t i) {
  return {key_of(table::orders, i), &o.tid.value, {&o.customer, &o.lines, &o.transaction}};
}
[[nodiscard]] record record_of(order_line& l, std::uint64_t i) {
  return {key_of(table::order_lines, i), &l.tid.value, {&l.item, &l.supplier, &l.quantity, &l.amount}};
}
[[nodiscard]] record record_of(receipt& p, std::uint64_t i) {
  return {key_of(table::receipts, i), &p.tid.value, {&p.customer, &p.amount, &p.tax}};
}

struct alignas(64) counter {
  std::uint64_t value = 0;
};

// What the threads share. Of the members only epochs, the counters and what the arrays hold are in the modelled memory;
// the rest never changes, or is for the host to check with.
struct job {
  database& db;
  const paged<request>& requests;
  std::uint64_t items, seed;
  epochs& epoch;
  std::vector<paged<std::uint64_t>> homes;                           // each a list of requests
  paged<counter> taken;                                              // of each home
  paged<transaction> transactions;                                   // of each thread
  std::vector<std::pair<std::uint64_t, std::uint64_t>> committed{};  // when it had its locks, and which
  std::uint64_t locked = 0;
  served_requests served{};
};

// Lines of an order that the serial program goes over at a time, with its cost.
constexpr std::uint64_t lines_at_a_time = 8;

class server {
 public:
  server(job& all, chip_thread& t)
      : all_(all), t_(t), tx_(all.transactions[t.rank()]), random_(all.seed * 1'000'003 + t.rank()) {}

  void serve(std::uint64_t number);

 private:
  // Retries wait for a random time below a bound that doubles with each abort and is halved by each commit, as the
  // benchmark has it. Less than a commit takes would hardly matter, more than a transaction takes would idle.
  static constexpr std::uint64_t backoff_first = 512;
  static constexpr unsigned doublings_max = 7;

  [[nodiscard]] bool attempt(const request& r, std::uint64_t number);
  [[nodiscard]] bool pay(const request& r, std::uint64_t number);
  [[nodiscard]] bool place(const request& r, std::uint64_t number);
  [[nodiscard]] bool insert_line(const request::line& asked, std::uint64_t at);
  void take_from_stock(const request::line& asked, std::uint64_t warehouse);
  void back_off();

  template <class Tuple> [[nodiscard]] transaction::values& find(paged<Tuple>& in, std::uint64_t index) {
    t_.work(find_instructions(in.size()));
    return tx_.update(t_, record_of(in[index], index));
  }
  // False: another transaction has inserted it.
  template <class Tuple>
  [[nodiscard]] bool insert(paged<Tuple>& into, std::uint64_t index, const transaction::values& all) {
    t_.work(find_instructions(into.size()));
    transaction::values* const copy = tx_.insert(t_, record_of(into[index], index));
    if (copy != nullptr) t_.store(*copy, all);
    return copy != nullptr;
  }
  void add(std::uint64_t& to, std::uint64_t more) { t_.store(to, t_.load(to) + more); }

  job& all_;
  chip_thread& t_;
  transaction& tx_;
  random_numbers random_;
  unsigned doublings_ = 0;
};

bool server::pay(const request& r, std::uint64_t number) {
  database& db = all_.db;
  const std::uint64_t amount = t_.load(r.amount), who = t_.load(r.customer);
  add(find(db.warehouses, t_.load(r.warehouse))[0], amount);
  add(find(db.districts, t_.load(r.district))[0], amount);
  transaction::values& c = find(db.customers, who);
  add(c[0], -amount);
  add(c[1], amount);
  add(c[2], 1);
  return insert(db.receipts, number, {who, amount, 0});
}

void server::take_from_stock(const request::line& asked, std::uint64_t warehouse) {
  transaction::values& k = find(all_.db.stocks, asked.supplier * all_.items + asked.item);
  t_.store(k[0], quantity_left(t_.load(k[0]), asked.quantity));
  add(k[1], asked.quantity);
  add(k[2], 1);
  if (asked.supplier != warehouse) add(k[3], 1);
}

// Prices are not read through the protocol: nobody writes them.
bool server::insert_line(const request::line& asked, std::uint64_t at) {
  const std::uint64_t amount = asked.quantity * t_.load(all_.db.prices[asked.item]);
  return insert(all_.db.order_lines, at, {asked.item, asked.supplier, asked.quantity, amount});
}

bool server::place(const request& r, std::uint64_t number) {
  database& db = all_.db;
  const std::uint64_t district = t_.load(r.district), count = t_.load(r.count), warehouse = t_.load(r.warehouse);
  t_.work(find_instructions(db.warehouses.size()));
  const std::uint64_t tax = t_.load(tx_.read(t_, record_of(db.warehouses[warehouse], warehouse))[1]);
  if (!insert(db.receipts, number, {t_.load(r.customer), 0, tax})) return false;
  transaction::values& d = find(db.districts, district);
  const std::uint64_t order = t_.load(d[1]);
  t_.store(d[1], order + 1);
  if (order >= db.orders_per_district) throw std::logic_error("silo: an order was placed twice");
  const std::uint64_t at = district * db.orders_per_district + order;
  if (!insert(db.orders, at, {t_.load(r.customer), count, number})) return false;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i % lines_at_a_time == 0) t_.work(2 * body_instructions);  // lines, and stock
    const request::line asked = t_.load(r.lines[i]);
    take_from_stock(asked, warehouse);
    if (!insert_line(asked, at * lines_max + i)) return false;
  }
  return true;
}

bool server::attempt(const request& r, std::uint64_t number) {
  all_.epoch.enter(t_);
  tx_.begin();
  t_.work(body_instructions);
  if (!(t_.load(r.is_payment) ? pay(r, number) : place(r, number))) return false;
  std::uint64_t locked = 0;
  if (!tx_.commit(t_, all_.epoch, [&] { locked = all_.locked++; })) return false;
  all_.committed.emplace_back(locked, number);
  return true;
}

void server::back_off() {
  const std::uint64_t begin = t_.cycle();
  t_.work(random_.below(backoff_first << doublings_));
  doublings_ = std::min(doublings_ + 1, doublings_max);
  all_.served.backoff_cycles += t_.cycle() - begin;
}

void server::serve(std::uint64_t number) {
  for (;;) {
    const std::uint64_t begin = t_.cycle();
    if (attempt(all_.requests[number], number)) break;
    ++all_.served.aborts;
    all_.served.aborted_cycles += t_.cycle() - begin;
    back_off();
  }
  if (doublings_ != 0) --doublings_;
}

void run_thread(job& all, chip_thread& t) {
  server s(all, t);
  const std::size_t homes = all.homes.size();
  const std::size_t home = t.rank() * homes / t.count();
  for (std::size_t i = 0; i < homes; ++i) {
    const std::size_t at = (home + i) % homes;
    const paged<std::uint64_t>& list = all.homes[at];
    for (;;) {
      const std::uint64_t next = t.fetch_add(all.taken[at].value, 1);
      if (next >= list.size()) break;
      s.serve(t.load(list[next]));
    }
  }
  all.epoch.leave(t);
}

}  // namespace

served_requests serve_by_threads(database& db, const paged<request>& requests, std::uint64_t items, std::uint64_t seed,
                                 std::uint64_t epoch_cycles) {
  const auto epoch = std::make_unique<epochs>(epoch_cycles);
  job all{.db = db,
          .requests = requests,
          .items = items,
          .seed = seed,
          .epoch = *epoch,
          .homes = {},
          .taken = {},
          .transactions = {}};
  const auto deal = [&](std::size_t threads) {
    const std::size_t warehouses = db.warehouses.size(), homes = std::min(threads, warehouses);
    all.homes.resize(homes);
    all.taken.resize(homes);
    all.transactions.resize(threads);
    for (std::uint64_t i = 0; i < requests.size(); ++i)
      all.homes[requests[i].warehouse * homes / warehouses].push_back(i);
  };
  all.served.chip = run_chip_threads([&](chip_thread& t) {
    if (all.homes.empty()) deal(t.count());  // input, as the requests: the chip's clock does not run
    run_thread(all, t);
  });
  std::sort(all.committed.begin(), all.committed.end());
  for (const auto& [locked, number] : all.committed) all.served.in_order.push_back(number);
  return std::move(all.served);
}

}  // namespace weft::apps::order
