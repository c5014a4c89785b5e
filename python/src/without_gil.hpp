// For the time of a block the thread does not have the GIL.
#pragma once
#include <Python.h>

namespace weftrt {

class without_gil {
 public:
  explicit without_gil(bool really = true) noexcept : state_(really ? PyEval_SaveThread() : nullptr) {}
  ~without_gil() {
    if (state_ != nullptr) PyEval_RestoreThread(state_);
  }
  without_gil(const without_gil&) = delete;
  without_gil& operator=(const without_gil&) = delete;

 private:
  PyThreadState* state_;
};

}  // namespace weftrt
