// Being asked: a library that goes on only when it is called - of messages, of input and output - is called by workers
// that have nothing else to do, so what it brings needs no thread to wake.
//
//   weft::poll_while_idle(rt, [](void* net) { return static_cast<network*>(net)->progress(); }, &net);
//
// It is asked by one worker at a time: by those that look for work, for the 25 us before they sleep
// (options::search_us), and by those that never run dry now and then. It fulfils events (weft/event.hpp), may not wait
// and may not throw. Nobody stays awake for it: who must be asked while all workers sleep, or are in long bodies, has a
// thread of its own beside this.
#pragma once
#include "weft/detail/language.hpp"  // before all others

#include "weft/runtime.hpp"

namespace weft {

// `look` returns whether anything has come. nullptr: nothing is asked any more; when this returns nobody is in it. One
// a runtime: the last that was given. Who: any thread, not from `look`. Errors: weft::error on a modelled machine,
// where nobody is outside; but those of a modelled cluster have other nodes there (weft/modelled_nodes.hpp).
void poll_while_idle(runtime& rt, bool (*look)(void* with), void* with);

}  // namespace weft
