  class owner_section;
  class foreign_wait;
  struct progress {
    std::uint64_t tasks;
    std::uint64_t busy_ns;
    std::uint64_t room;
    std::uint64_t at_ps;
    [[nodiscard]] bool stands(const progress& now) const noexcept {
      return now.tasks == tasks && now.busy_ns - busy_ns <= base::patience_busy_ns;
    }
  };
  void offer_turn(worker& w);
  [[nodiscard]] detail::record* throttle(worker& w, std::uint8_t size_class);
  [[nodiscard]] detail::record* set_submitter_aside(worker& w, std::uint8_t size_class);
  [[nodiscard]] detail::record* next_throttled(worker& w);
  [[nodiscard]] detail::record* wait_for_room(worker& g, worker* w, std::uint8_t size_class);
  void begin_to_block(waiter& self, const worker* w);
  void end_to_block(waiter& self, const worker* w);
  void tell_front_if_all_stand();
  [[nodiscard]] bool all_stand() const noexcept;
  [[nodiscard]] bool is_front_of_all(const waiter& self);
  [[nodiscard]] bool may_exceed(const waiter& self, const progress& before, const progress& since);
  [[nodiscard]] bool only_others_move(const progress& since, const progress& now) const noexcept;
  void lead(std::uint64_t tasks) noexcept;
  [[nodiscard]] progress look() noexcept;
  void room_made(bool at_once) noexcept;
  [[nodiscard]] bool take_leave_to_exceed() noexcept;
  [[nodiscard]] bool leads(std::uint64_t tasks) const noexcept;
  [[nodiscard]] bool use_credit() noexcept;
  [[nodiscard]] detail::record* look_aside(worker& w);
  [[nodiscard]] bool reserve_wanted() noexcept;
  [[nodiscard]] bool leaves_reserve() noexcept override;
  [[nodiscard]] bool let_exceed() noexcept override;
  void events_outstanding() override { watch_.call_for_events(); }
  [[nodiscard]] bool somebody_waits() noexcept override { return M::load(throttled_, base::seq_cst) != 0; }
  void call_reserve();
  [[nodiscard]] bool take_turn(worker& w, detail::record* r);
  class standing;
  void await_turn(unsigned id) noexcept;
  detail::cell<std::uint32_t> throttled_;          // submitters that wait for room, set aside or blocked
  detail::cell<std::uint32_t> beyond_window_;      // nothing else can run: the next throttled submitter may exceed it
  detail::cell<std::uint8_t> room_lock_;
  std::vector<waiter*> blocked_;   // threads that wait for room, oldest first; guarded by room_lock_, as what follows
  unsigned blocked_workers_ = 0;   // those among them that are workers
  unsigned turn_waits_ = 0;        // workers in await_turn()
  unsigned foreign_waits_ = 0;     // threads that are no workers and wait for tasks or room
  bool main_waits_ = false;        // worker 0's thread is in a wait and runs tasks itself
  unsigned batches_back_ = 0;      // free batches since somebody last blocked
  unsigned steps_beyond_ = 0;      // times in a row that nothing moved
  const void* leader_ = nullptr;   // the thread that exceeded the window last
  std::size_t credit_beyond_ = 0;  // batches that it may take without waiting again ...
  std::uint64_t stuck_at_tasks_ = 0;  // ... while no more tasks than these have begun
  detail::cell<std::uint64_t> room_;  // times that room was made or a blocked thread went on; written under room_lock_
  detail::cell<std::uint64_t> turn_;  // bodies that the reserve has begun; written under room_lock_
  detail::cell<std::uint64_t> turn_given_up_;  // the one of those that nobody waits for any more
  detail::cell<bool> reserve_blocked_;         // its body waits for room
  enum class reserve_state : std::uint8_t { none, refused, away, here };
  detail::cell<reserve_state> reserve_;         // written under room_lock_
  detail::cell<std::uint32_t> reserve_called_;  // what the reserve blocks on while it is away
