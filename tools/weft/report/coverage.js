// How much of each pixel column the intervals of a row cover, exact to a rounding error, however many there are and
// however long one is. Sums of length times weight are kept before every block of intervals. What lies between two
// times is then the difference of two sums, less than two blocks looked at one by one, and the cut ends. So a frame
// costs rows times columns, not intervals.
// Intervals of a row do not overlap: a worker does one thing at a time.

const blockSize = 32;

class Coverage {
  // `weigh(i, out)` writes the weights of interval i, one for each channel.
  constructor(lists, channels, weigh) {
    this.lists = lists;
    this.weigh = weigh;
    this.weights = new Float64Array(channels);
    const blocks = Math.ceil(lists.from.length / blockSize);
    this.before = Array.from({ length: channels }, () => new Float64Array(blocks + 1));
    const running = new Float64Array(channels);
    for (let b = 0, i = 0; b <= blocks; ++b) {
      this.before.forEach((sums, k) => { sums[b] = running[k]; });
      for (; i < Math.min((b + 1) * blockSize, lists.from.length); ++i) this.put(i, lists.to[i] - lists.from[i], running);
    }
  }

  put(i, length, sums) {
    this.weigh(i, this.weights);
    for (let k = 0; k < sums.length; ++k) sums[k] += length * this.weights[k];
  }

  // Of the whole intervals [i, end).
  add(i, end, sums) {
    const first = Math.ceil(i / blockSize), last = Math.floor(end / blockSize);
    if (last <= first) {
      for (; i < end; ++i) this.put(i, this.lists.to[i] - this.lists.from[i], sums);
      return;
    }
    for (let k = 0; k < sums.length; ++k) sums[k] += this.before[k][last] - this.before[k][first];
    for (; i < first * blockSize; ++i) this.put(i, this.lists.to[i] - this.lists.from[i], sums);
    for (i = last * blockSize; i < end; ++i) this.put(i, this.lists.to[i] - this.lists.from[i], sums);
  }

  // What row `row` has in each of `width` columns from `from` to `to`: out[k][column], in lengths of a column.
  columns(row, from, to, width, out) {
    const { lists } = this, high = lists.first[row + 1], step = (to - from) / width;
    const sums = new Float64Array(this.before.length);
    let i = search(lists.to, lists.first[row], high, from, false);
    for (let c = 0; c < width; ++c) {
      const begin = from + c * step, end = from + (c + 1) * step;
      const next = i === high || lists.to[i] > end ? i : search(lists.to, i + 1, high, end, false);
      sums.fill(0);
      if (next > i) {
        this.add(i, next, sums);
        if (lists.from[i] < begin) this.put(i, lists.from[i] - begin, sums);  // what lies before the column
      }
      if (next < high && lists.from[next] < end) this.put(next, end - Math.max(begin, lists.from[next]), sums);
      for (let k = 0; k < sums.length; ++k) out[k][c] = sums[k] / step;
      i = next;
    }
  }
}

// First index in [low, high) whose value is above `time`, or not below it if `orEqual`.
function search(values, low, high, time, orEqual) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (orEqual ? values[middle] >= time : values[middle] > time) high = middle; else low = middle + 1;
  }
  return low;
}
