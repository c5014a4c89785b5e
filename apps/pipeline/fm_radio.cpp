// An FM radio, as the suites of stream programs have it (StreamIt, OpenStream): samples of an antenna -> a low-pass
// filter that keeps every fourth -> the turn from sample to sample is the sound -> an equalizer, whose band-pass
// filters run side by side on the same samples -> their sum. Filters see more than they take: the windows of a task and
// of the next one overlap. So tasks of a lead-in push once what windows see behind their last block.
// The station plays a few tones, drawn by number. Checks: the sound is that of these tones through the equalizer; each
// sample has the bits of plain loops over whole arrays; and no stream is left with a sample.
#include <cmath>
#include <cstdio>
#include <memory>
#include <numbers>
#include <span>
#include <vector>

#include "../app.hpp"
#include "../near/sweep.hpp"
#include "pipeline.hpp"

namespace weft::apps {
namespace {

constexpr std::size_t keeps_one_of = 4;
constexpr std::size_t bands_max = 15;  // so many streams in the clause of a pop, beside one that is pushed
constexpr double turn = 2 * std::numbers::pi;
// In turns a sample of the antenna: how far a tone moves the frequency, and what the filter lets through.
constexpr double deviation = 0.03, cutoff = 0.1;
// In turns a sample of the sound: the first band begins and the last one ends here.
constexpr double lowest = 0.02, highest = 0.25;

// Of a sample, on modelled machines; docs/guide/47-stream-programs.md.
constexpr double cycles_to_receive = 270, cycles_to_turn = 38, cycles_to_add = 1.4;
constexpr double cycles_a_tap = 1.6, cycles_a_real_tap = 1.2;

struct parameters {
  std::size_t blocks = 64, block = 4096, taps = 64, bands = 10;
};

struct sample {
  float re, im;
};

struct tone {
  double frequency, phase;  // turns a sample of the antenna, turns
};
constexpr std::size_t tones = 5;
tone tone_at(std::size_t i) { return {0.007 + 0.04 * near::noise(2 * i), near::noise(2 * i + 1)}; }
double played(double time) {
  double sum = 0;
  for (std::size_t i = 0; i < tones; ++i) {
    const tone t = tone_at(i);
    sum += std::sin(turn * (t.frequency * time + t.phase)) / tones;
  }
  return sum;
}

// The frequency is the sound, so the phase is its integral. Not inlined, here and below: bits are compared.
[[gnu::noinline]] void receive(std::size_t from, std::span<sample> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto time = static_cast<double>(from + i);
    double phase = 0;
    for (std::size_t k = 0; k < tones; ++k) {
      const tone t = tone_at(k);
      phase -= deviation / tones / t.frequency * std::cos(turn * (t.frequency * time + t.phase));
    }
    out[i] = {static_cast<float>(std::cos(phase)), static_cast<float>(std::sin(phase))};
  }
}

// Lets through what is slower than so many turns a sample: a sinc in a Hamming window.
std::vector<double> low_pass(std::size_t taps, double rate) {
  std::vector<double> h(taps);
  for (std::size_t i = 0; i < taps; ++i) {
    const double x = static_cast<double>(i) - static_cast<double>(taps - 1) / 2;
    const double sinc = x == 0 ? 2 * rate : std::sin(turn * rate * x) / (std::numbers::pi * x);
    h[i] = sinc * (0.54 - 0.46 * std::cos(turn * static_cast<double>(i) / static_cast<double>(taps - 1)));
  }
  return h;
}

using filter = std::vector<float>;
filter rounded(const std::vector<double>& h) { return {h.begin(), h.end()}; }

[[gnu::noinline]] void select_station(const filter& h, std::span<const sample> in, std::span<sample> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    sample sum{0, 0};
    for (std::size_t t = 0; t < h.size(); ++t) {
      sum.re += h[t] * in[i * keeps_one_of + t].re;
      sum.im += h[t] * in[i * keeps_one_of + t].im;
    }
    out[i] = sum;
  }
}

[[gnu::noinline]] void demodulate(std::span<const sample> in, std::span<float> out) {
  constexpr auto whole = static_cast<float>(turn * deviation * keeps_one_of);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const sample a = in[i], b = in[i + 1];
    out[i] = std::atan2(a.re * b.im - a.im * b.re, a.re * b.re + a.im * b.im) / whole;
  }
}

[[gnu::noinline]] void pass_band(const filter& h, std::span<const float> in, std::span<float> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    float sum = 0;
    for (std::size_t t = 0; t < h.size(); ++t) sum += h[t] * in[i + t];
    out[i] = sum;
  }
}

[[gnu::noinline]] void add_bands(std::span<const std::span<const float>> bands, std::span<float> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    float sum = 0;
    for (const std::span<const float> band : bands) sum += band[i];
    out[i] = sum;
  }
}

// A band lets through what is between two frequencies, each a fixed ratio above the one before, as loud as it is set.
std::vector<std::vector<double>> make_bands(const parameters& p) {
  std::vector<std::vector<double>> bands;
  for (std::size_t b = 0; b < p.bands; ++b) {
    const auto edge = [&p](std::size_t i) {
      return lowest * std::pow(highest / lowest, static_cast<double>(i) / static_cast<double>(p.bands));
    };
    std::vector<double> h = low_pass(p.taps, edge(b + 1)), below = low_pass(p.taps, edge(b));
    for (std::size_t t = 0; t < p.taps; ++t) h[t] = (h[t] - below[t]) * (0.5 + near::noise(1000 + b));
    bands.push_back(std::move(h));
  }
  return bands;
}

class radio {
 public:
  radio(const parameters& p, progress& bar)
      : p_(p), station_(rounded(low_pass(p.taps, cutoff))), exact_bands_(make_bands(p)), heard_(p.blocks * p.block),
        ran_((p.blocks + 1) * steps()), equalized_(p.bands), bar_(bar) {
    for (const std::vector<double>& h : exact_bands_) bands_.push_back(rounded(h));
  }

  // What windows see behind their last block, before all blocks.
  void lead_in(runtime& rt) {
    submit_front(rt, p_.blocks, (p_.taps - 1) * keeps_one_of + p_.taps, p_.taps, p_.taps - 1);
  }
  void submit(runtime& rt, std::size_t b) {
    submit_front(rt, b, p_.block * keeps_one_of, p_.block, p_.block);
    for (std::size_t k = 0; k < p_.bands; ++k) submit_band(rt, b, k);
    rt.submit(named("sum"), cycles(cycles_to_add * of_block(p_.bands)), pop<bands_max>(equalized_, p_.block),
              push(summed_, p_.block), [this, b](std::span<const std::span<const float>> in, std::span<float> out) {
                count_body(b, 3);
                add_bands(in, out);
              });
    rt.submit(named("loudspeaker"), cycles(of_block(1)), pop(summed_, p_.block), [this, b](std::span<const float> in) {
      count_body(b, 4);
      std::ranges::copy(in, heard_.begin() + static_cast<std::ptrdiff_t>(b * p_.block));
      bar_.report(static_cast<double>(b + 1) / static_cast<double>(p_.blocks));
    });
  }
  // What no window takes. Errors: weft::error if a stream is left with anything else.
  void end() {
    antenna_.discard(p_.taps - keeps_one_of);
    selected_.discard(1);
    sound_.discard(p_.taps - 1);
    antenna_.end(), selected_.end(), sound_.end(), summed_.end();
    for (stream<float>& s : equalized_) s.end();
  }
  [[nodiscard]] std::vector<check> checks() const {
    return {pipeline::each_once(std::span(ran_).first(p_.blocks * steps() + 3)), compare_bits(), compare_tones()};
  }

 private:
  [[nodiscard]] std::size_t steps() const { return 5 + p_.bands; }
  void count_body(std::size_t b, std::size_t step) { ++ran_[b * steps() + step]; }
  [[nodiscard]] double of_block(std::size_t times) const { return static_cast<double>(p_.block * times); }
  // The lead-in is the beginning of the signal, and blocks follow it.
  [[nodiscard]] std::size_t begin_of(std::size_t b) const {
    return b == p_.blocks ? 0 : (p_.taps - 1) * keeps_one_of + p_.taps + b * p_.block * keeps_one_of;
  }

  // So many samples received, kept of them, and made sound.
  void submit_front(runtime& rt, std::size_t b, std::size_t received, std::size_t kept, std::size_t made) {
    const auto taps = static_cast<double>(p_.taps);
    rt.submit(named("antenna"), cycles(cycles_to_receive * static_cast<double>(received)), push(antenna_, received),
              [this, b](std::span<sample> out) {
                count_body(b, 0);
                receive(begin_of(b), out);
              });
    rt.submit(named("low pass"), cycles(cycles_a_tap * taps * static_cast<double>(kept)),
              pop(antenna_, kept * keeps_one_of, (kept - 1) * keeps_one_of + p_.taps), push(selected_, kept),
              [this, b](std::span<const sample> in, std::span<sample> out) {
                count_body(b, 1);
                select_station(station_, in, out);
              });
    rt.submit(named("demodulate"), cycles(cycles_to_turn * static_cast<double>(made)), pop(selected_, made, made + 1),
              push(sound_, made), [this, b](std::span<const sample> in, std::span<float> out) {
                count_body(b, 2);
                demodulate(in, out);
              });
  }
  // All bands see the same samples; the last one takes them.
  void submit_band(runtime& rt, std::size_t b, std::size_t k) {
    const auto body = [this, b, k](std::span<const float> in, std::span<float> out) {
      count_body(b, 5 + k);
      pass_band(bands_[k], in, out);
    };
    const auto work = cycles(cycles_a_real_tap * of_block(p_.taps));
    const std::size_t sees = p_.block + p_.taps - 1;
    if (k + 1 < p_.bands)
      rt.submit(named("band pass"), work, peek(sound_, sees), push(equalized_[k], p_.block), body);
    else
      rt.submit(named("band pass"), work, pop(sound_, p_.block, sees), push(equalized_[k], p_.block), body);
  }

  [[nodiscard]] check compare_bits() const;
  [[nodiscard]] check compare_tones() const;

  const parameters p_;
  const filter station_;
  const std::vector<std::vector<double>> exact_bands_;
  std::vector<filter> bands_;
  std::vector<float> heard_;
  std::vector<std::uint8_t> ran_;
  stream<sample> antenna_{"antenna"}, selected_{"selected"};
  stream<float> sound_{"sound"}, summed_{"summed"};
  std::vector<stream<float>> equalized_;
  progress& bar_;
};

check radio::compare_bits() const {
  const std::size_t made = heard_.size() + p_.taps - 1, kept = made + 1;
  std::vector<sample> antenna((kept - 1) * keeps_one_of + p_.taps), selected(kept);
  std::vector<float> sound(made), summed(heard_.size());
  receive(0, antenna);
  select_station(station_, antenna, selected);
  demodulate(selected, sound);
  std::vector<std::vector<float>> bands;
  std::vector<std::span<const float>> all;
  for (const filter& h : bands_) pass_band(h, sound, bands.emplace_back(heard_.size()));
  for (const std::vector<float>& band : bands) all.emplace_back(band);
  add_bands(all, summed);
  std::size_t different = 0;
  for (std::size_t i = 0; i < summed.size(); ++i) different += summed[i] != heard_[i];
  return {"bits_of_plain_loops", different == 0,
          std::to_string(different) + " of " + std::to_string(summed.size()) + " samples differ"};
}

// Filters are symmetric, so a sample is of the middle of all windows that it was made from.
check radio::compare_tones() const {
  constexpr std::size_t looked_at_max = 2000;
  const double half = static_cast<double>(p_.taps - 1) / 2;
  double difference = 0, loudness = 0;
  for (std::size_t i = 0; i < std::min(heard_.size(), looked_at_max); ++i) {
    double expected = 0;
    for (std::size_t t = 0; t < p_.taps; ++t) {
      double all = 0;
      for (const std::vector<double>& h : exact_bands_) all += h[t];
      expected += all * played((static_cast<double>(i + t) + 0.5) * keeps_one_of + half);
    }
    difference += (heard_[i] - expected) * (heard_[i] - expected);
    loudness += expected * expected;
  }
  return pipeline::at_most("sound_of_the_tones", std::sqrt(difference / loudness), 0.05);
}

result run(const parameters& p, const weft::options& opt, progress& bar) {
  const double samples = static_cast<double>(p.blocks) * static_cast<double>(p.block);
  require_memory("fmradio",
                 samples * (keeps_one_of * sizeof(sample) + sizeof(float) * static_cast<double>(p.bands + 6)));
  runtime rt(opt);
  radio work(p, bar);
  const double start = rt.now_ns();
  work.lead_in(rt);
  for (std::size_t b = 0; b < p.blocks; ++b) work.submit(rt, b);
  rt.wait();
  result r;
  r.seconds = (rt.now_ns() - start) * 1e-9;
  work.end();
  r.describe(rt);
  r.add("blocks", std::uint64_t{p.blocks});
  r.add("block", std::uint64_t{p.block});
  r.add("taps", std::uint64_t{p.taps});
  r.add("bands", std::uint64_t{p.bands});
  r.add("buffers_peak_bytes", std::uint64_t{node_memory().peak});
  r.add("ns_per_sample", r.seconds * 1e9 / samples);
  r.checks = work.checks();
  return r;
}

}  // namespace

app fm_radio_app() {
  auto p = std::make_shared<parameters>();
  return {.name = "fmradio",
          .summary = "FM radio: filters whose windows overlap, and bands side by side on the same samples",
          .example = "fmradio --blocks 200 --bands 12",
          .options = {{"blocks", "of sound to play", &p->blocks, 1, 1'000'000},
                      {"block", "samples of sound in a block", &p->block, 1, std::size_t{1} << 24},
                      {"taps", "of each filter", &p->taps, 32, 4096},
                      {"bands", "of the equalizer", &p->bands, 1, bands_max}},
          .run = [p](const weft::options& opt, progress& bar) { return run(*p, opt, bar); }};
}

}  // namespace weft::apps
