// Transactions on a database in memory (Swarm §2.2, §5): each is cut into bodies that touch one tuple at most, so those
// of one transaction run side by side, too. Timestamps of a transaction are its own, so each happens as a whole, in the
// order of the requests. Check: every tuple of every table as plain functions leave it that do one request after the
// other, what was paid adds up the same in all tables, and as many calls as the requests take.
#include <memory>
#include <string>
#include <vector>

#include "../app.hpp"
#include "section.hpp"
#include "silo_threads.hpp"
#include "threads.hpp"
#include "tpcc.hpp"

namespace weft::apps {
namespace {

struct parameters {
  order::sizes sizes;
  order::section_setting section;
};

// The tables as bodies see them.
struct tables {
  order::warehouse* warehouses;
  order::district* districts;
  order::customer* customers;
  order::stock* stocks;
  const std::uint64_t* prices;
  order::order_head* orders;
  order::order_line* order_lines;
  order::receipt* receipts;
  std::uint64_t orders_per_district;
  std::uint64_t items;
  order::database* all;  // for sizes
};

using order::body_instructions;
void find_in(ordered_context& x, std::size_t tuples) { x.work(order::find_instructions(tuples)); }

// Timestamps of a transaction, and which of its bodies they are for.
enum when : std::uint64_t { begin, early, spread, line, late, timestamps };

void pay_warehouse(ordered_context& x, std::uint64_t, const tables* t, const order::request* r) {
  find_in(x, t->all->warehouses.size());
  std::uint64_t& paid = x.read(t->warehouses)[x.read(r->warehouse)].paid;
  x.store(paid, x.load(paid) + x.read(r->amount));
}
void pay_district(ordered_context& x, std::uint64_t, const tables* t, const order::request* r) {
  find_in(x, t->all->districts.size());
  std::uint64_t& paid = x.read(t->districts)[x.read(r->district)].paid;
  x.store(paid, x.load(paid) + x.read(r->amount));
}
void pay_customer(ordered_context& x, std::uint64_t, const tables* t, const order::request* r) {
  find_in(x, t->all->customers.size());
  order::customer& who = x.read(t->customers)[x.read(r->customer)];
  const std::uint64_t amount = x.read(r->amount);
  x.store(who.owes, x.load(who.owes) - amount);
  x.store(who.paid, x.load(who.paid) + amount);
  x.store(who.payments, x.load(who.payments) + 1);
}
void write_receipt(ordered_context& x, std::uint64_t, const tables* t, const order::request* r, std::uint64_t number) {
  find_in(x, t->all->receipts.size());
  x.store(x.read(t->receipts)[number], {x.read(r->customer), x.read(r->amount), 0});
}
void write_tax(ordered_context& x, std::uint64_t, const tables* t, const order::request* r, std::uint64_t number,
               std::uint64_t tax) {
  find_in(x, t->all->receipts.size());
  x.store(x.read(t->receipts)[number], {x.read(r->customer), 0, tax});
}
// An order reads the tuple that each payment writes, as in the benchmark.
void read_tax(ordered_context& x, std::uint64_t now, const tables* t, const order::request* r, std::uint64_t number) {
  find_in(x, t->all->warehouses.size());
  const std::uint64_t tax = x.load(x.read(t->warehouses)[x.read(r->warehouse)].tax);
  x.at(now - early + late, write_tax, t, r, number, tax);
}

void insert_order(ordered_context& x, std::uint64_t, const tables* t, const order::request* r, std::uint64_t number,
                  std::uint64_t place) {
  find_in(x, t->all->orders.size());
  x.store(x.read(t->orders)[place], {x.read(r->customer), x.read(r->count), number});
}
void insert_line(ordered_context& x, std::uint64_t, const tables* t, const order::request::line* l,
                 std::uint64_t place) {
  find_in(x, t->all->order_lines.size());
  const order::request::line asked = x.read(*l);
  const std::uint64_t amount = asked.quantity * x.read(x.read(t->prices)[asked.item]);
  x.store(x.read(t->order_lines)[place], {asked.item, asked.supplier, asked.quantity, amount});
}
void take_from_stock(ordered_context& x, std::uint64_t, const tables* t, const order::request* r, std::uint64_t i) {
  find_in(x, t->all->stocks.size());
  const order::request::line asked = x.read(r->lines[i]);
  order::stock& k = x.read(t->stocks)[asked.supplier * x.read(t->items) + asked.item];
  x.store(k.quantity, order::quantity_left(x.load(k.quantity), asked.quantity));
  x.store(k.sold, x.load(k.sold) + asked.quantity);
  x.store(k.orders, x.load(k.orders) + 1);
  if (asked.supplier != x.read(r->warehouse)) x.store(k.from_elsewhere, x.load(k.from_elsewhere) + 1);
}

// A body makes eight others at most, as the paper's hardware has it.
constexpr std::uint64_t children_max = 8;

void spread_lines(ordered_context& x, std::uint64_t now, const tables* t, const order::request* r, std::uint64_t place,
                  std::uint64_t from) {
  x.work(body_instructions);
  const std::uint64_t count = x.read(r->count);
  for (std::uint64_t i = from; i < count && i < from + children_max; ++i)
    x.at(now - spread + late, insert_line, t, &r->lines[i], place * order::lines_max + i);
}
void spread_stocks(ordered_context& x, std::uint64_t now, const tables* t, const order::request* r,
                   std::uint64_t from) {
  x.work(body_instructions);
  const std::uint64_t count = x.read(r->count);
  for (std::uint64_t i = from; i < count && i < from + children_max; ++i)
    x.at(now - spread + line, take_from_stock, t, r, i);
}
void number_order(ordered_context& x, std::uint64_t now, const tables* t, const order::request* r,
                  std::uint64_t number) {
  find_in(x, t->all->districts.size());
  const std::uint64_t district = x.read(r->district);
  std::uint64_t& orders = x.read(t->districts)[district].orders;
  const std::uint64_t order = x.load(orders);
  x.store(orders, order + 1);
  if (order >= x.read(t->orders_per_district)) return;  // of another time
  const std::uint64_t place = district * x.read(t->orders_per_district) + order, base = now - early;
  x.at(base + late, insert_order, t, r, number, place);
  for (std::uint64_t i = 0; i < x.read(r->count); i += children_max) x.at(base + spread, spread_lines, t, r, place, i);
}

void serve(ordered_context& x, std::uint64_t now, const tables* t, const order::request* r, std::uint64_t number) {
  x.work(body_instructions);
  if (x.read(r->is_payment)) {
    x.at(now + early, pay_warehouse, t, r);
    x.at(now + early, pay_district, t, r);
    x.at(now + early, pay_customer, t, r);
    x.at(now + late, write_receipt, t, r, number);
    return;
  }
  x.at(now + early, read_tax, t, r, number);
  x.at(now + early, number_order, t, r, number);
  for (std::uint64_t i = 0; i < x.read(r->count); i += children_max) x.at(now + spread, spread_stocks, t, r, i);
}

std::uint64_t calls_of(const order::paged<order::request>& requests) {
  std::uint64_t calls = 0;
  for (const order::request& r : requests)
    calls += r.is_payment ? 5 : 5 + 2 * r.count + 2 * ((r.count + children_max - 1) / children_max);
  return calls;
}

// What was paid, by each of three tables.
check money(const order::database& db, const order::paged<order::request>& requests) {
  std::uint64_t paid = 0, warehouses = 0, districts = 0, customers = 0;
  for (const order::request& r : requests) paid += r.amount;
  for (const order::warehouse& w : db.warehouses) warehouses += w.paid;
  for (const order::district& d : db.districts) districts += d.paid;
  for (const order::customer& c : db.customers) customers += c.paid;
  return {"money", paid == warehouses && paid == districts && paid == customers,
          std::to_string(paid) + " paid; " + std::to_string(warehouses) + " in warehouses, " +
              std::to_string(districts) + " in districts, " + std::to_string(customers) + " of customers"};
}

void add_checks(result& r, const order::database& db, const order::database& expected) {
  r.checks.push_back(order::as_serial("warehouses", db.warehouses, expected.warehouses));
  r.checks.push_back(order::as_serial("districts", db.districts, expected.districts));
  r.checks.push_back(order::as_serial("customers", db.customers, expected.customers));
  r.checks.push_back(order::as_serial("stocks", db.stocks, expected.stocks));
  r.checks.push_back(order::as_serial("orders", db.orders, expected.orders));
  r.checks.push_back(order::as_serial("order_lines", db.order_lines, expected.order_lines));
  r.checks.push_back(order::as_serial("receipts", db.receipts, expected.receipts));
}

check each_request_once(const std::vector<std::uint64_t>& served, std::size_t requests) {
  std::vector<bool> seen(requests);
  std::size_t doubled = 0;
  for (const std::uint64_t i : served) {
    doubled += seen[i] ? 1 : 0;
    seen[i] = true;
  }
  return {"each_request_once", doubled == 0 && served.size() == requests,
          std::to_string(served.size()) + " transactions committed, " + std::to_string(requests) + " expected, " +
              std::to_string(doubled) + " doubled"};
}

void add_sizes(result& r, const order::sizes& s, double reference_seconds) {
  r.add("transactions", std::uint64_t{s.transactions});
  r.add("warehouses", std::uint64_t{s.warehouses});
  r.add("reference_seconds", reference_seconds, "s");
}

// Threads serve requests in an order of their own, which the reference then follows.
result run_threads(const parameters& p, const weft::options& opt) {
  runtime rt(opt);
  const order::paged<order::request> requests = order::make_requests(p.sizes, opt.seed);
  order::database db = order::make_database(p.sizes, requests, opt.seed), expected = db;
  const order::served_requests served = order::serve_by_threads(db, requests, p.sizes.items, opt.seed);
  result r;
  order::describe_threads(r, rt, served.chip);
  const double serial = order::host_seconds([&] {
    for (const std::uint64_t i : served.in_order) order::carry_out(expected, requests[i], i, p.sizes.items);
  });
  add_sizes(r, p.sizes, serial);
  r.add("aborts", served.aborts);
  r.add("aborted_cycles", served.aborted_cycles);
  r.add("backoff_cycles", served.backoff_cycles);
  add_checks(r, db, expected);
  r.checks.push_back(money(db, requests));
  r.checks.push_back(each_request_once(served.in_order, requests.size()));
  return r;
}

result run(const parameters& p, const weft::options& opt) {
  const double lines = static_cast<double>(p.sizes.transactions) * order::lines_max;
  const double tuples = static_cast<double>(p.sizes.warehouses) *
                        static_cast<double>(p.sizes.items + order::districts_per_warehouse * p.sizes.customers);
  require_memory("a database of " + std::to_string(p.sizes.warehouses) + " warehouses", 2 * 64 * (tuples + 2 * lines));
  if (p.section.by_threads()) return run_threads(p, opt);
  runtime rt(opt);
  ordered q(rt, p.section.get());
  const order::paged<order::request> requests = order::make_requests(p.sizes, opt.seed);
  order::database db = order::make_database(p.sizes, requests, opt.seed), expected = db;
  alignas(order::page_bytes) const tables t{db.warehouses.data(),
                                            db.districts.data(),
                                            db.customers.data(),
                                            db.stocks.data(),
                                            db.prices.data(),
                                            db.orders.data(),
                                            db.order_lines.data(),
                                            db.receipts.data(),
                                            db.orders_per_district,
                                            p.sizes.items,
                                            &db};
  for (std::uint64_t i = 0; i < requests.size(); ++i) q.at(i * timestamps, serve, &t, &requests[i], i);
  result r;
  order::run_section(r, rt, q);
  const double serial = order::host_seconds([&] {
    for (std::uint64_t i = 0; i < requests.size(); ++i) order::carry_out(expected, requests[i], i, p.sizes.items);
  });
  add_sizes(r, p.sizes, serial);
  add_checks(r, db, expected);
  r.checks.push_back(money(db, requests));
  r.checks.push_back(order::each_call_once(q, calls_of(requests)));
  return r;
}

}  // namespace

app silo_app() {
  auto p = std::make_shared<parameters>();
  return {.name = "silo",
          .summary = "a small TPC-C in memory, bodies of one tuple each, ordered by transaction",
          .example = "silo --warehouses 4 --transactions 1000",
          .options = {{"warehouses", "with ten districts each", &p->sizes.warehouses, 1, 10'000},
                      {"items", "in stock of each warehouse", &p->sizes.items, 1, 10'000'000},
                      {"customers", "of each district", &p->sizes.customers, 1, 10'000'000},
                      {"transactions", "every other one a payment", &p->sizes.transactions, 1, 100'000'000},
                      p->section.executor_option_with_threads()},
          .run = [p](const weft::options& opt, progress&) { return run(*p, opt); }};
}

}  // namespace weft::apps
