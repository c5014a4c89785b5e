// A finish in two calls, for code whose begin and end are not one block: another language's constructs, a library's
// begin() and end().
//
//   weft::finish_scope s;      what the body submits from here on belongs to it
//   ...
//   s.close();                 returns when all of that is done, with what it submitted
//
// Where a block will do, weft::finish is shorter and forgets nothing.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include "weft/detail/scope.hpp"

namespace weft {

class finish_scope {
 public:
  // Who: a body. Scopes of one body end in the order opposite to that in which they began; no weft::finish may begin in
  // one and end outside of it. Errors: weft::error outside of a body.
  finish_scope();
  // Closes it, if close() was not called; what it would throw then is lost.
  ~finish_scope();
  finish_scope(const finish_scope&) = delete;
  finish_scope& operator=(const finish_scope&) = delete;

  // The body is set aside meanwhile, as in any wait. Who: the body that made it, once. Errors: as weft::finish.
  void close();

 private:
  detail::scope scope_;
  detail::light_scope* outer_ = nullptr;
  bool open_ = false;
};

// In a body: whenever it has waited it goes on on the worker that it is on now. As weft::pin, for a body that learns
// only while it runs, or does not mind where it begins: it uses what belongs to its thread. Outside of tasks it does
// nothing. Cost: a call.
void stay() noexcept;

}  // namespace weft
