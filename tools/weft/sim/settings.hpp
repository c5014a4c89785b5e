// What a modelled run is asked to be, as the environment that says so: the same for a program that is started and for a
// replay in this process, and complete - what is not asked for is not inherited where it would change the run.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace weft::tool::sim {

// Values of options by their names in the environment without "WEFT_"; "" means unset.
class settings {
 public:
  // The last value of a name counts.
  void set(const char* name, std::string value);
  // What a runtime made under these settings will see: the value set, else that of this process's environment; "".
  [[nodiscard]] std::string value(const char* name) const;
  // "WEFT_NAME=value", those of this process's environment that it keeps included.
  [[nodiscard]] std::vector<std::string> environment() const;

  // While it lives this process has that environment. Who: one at a time, no other thread looks.
  class in_force {
   public:
    explicit in_force(const settings& s);
    ~in_force();
    in_force(const in_force&) = delete;
    in_force& operator=(const in_force&) = delete;

   private:
    std::vector<std::pair<std::string, std::string>> before_;  // what there was; "" was unset
  };

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

}  // namespace weft::tool::sim
