// The heaviest sample in a range of samples, found without looking at each: the heaviest of 16 samples, of 16 times 16, and
// so on are counted once. A frame of a timeline then costs what it shows, not what the recording holds.

const FAN = 16;

export class Heaviest {
  /** Of samples that begin one after the other: their weights, and when each ends, or null if each ends where the next begins. */
  constructor(weights, ends) {
    this.weights = weights;
    this.ends = ends;
    this.levels = [];
    const most = { weight: (sample) => weights[sample], at: (sample) => sample, end: ends && ((sample) => ends[sample]) };
    for (let below = most, length = weights.length; length > 1; ) {
      const level = this.level(below, length);
      this.levels.push(level);
      length = level.weight.length;
      below = { weight: (block) => level.weight[block], at: (block) => level.at[block], end: ends && ((block) => level.end[block]) };
    }
  }

  /** For each 16 of the level below: the largest weight, the first sample that has it, and the last end. */
  level(below, length) {
    const blocks = Math.ceil(length / FAN);
    const level = { weight: new Float64Array(blocks), at: new Int32Array(blocks), end: this.ends && new Float64Array(blocks).fill(-Infinity) };
    for (let of = 0; of < length; of++) {
      const block = Math.floor(of / FAN);
      const weight = below.weight(of);
      if (of % FAN === 0 || weight > level.weight[block]) {
        level.weight[block] = weight;
        level.at[block] = below.at(of);
      }
      if (level.end) level.end[block] = Math.max(level.end[block], below.end(of));
    }
    return level;
  }

  /** The first of the heaviest samples from `lo` to `hi`, without `hi`, that end after a moment; -1 if none has a weight. */
  find(lo, hi, after = -Infinity) {
    const best = { weight: 0, sample: -1 };
    if (lo < hi) this.search(this.levels.length - 1, 0, lo, hi, after, best);
    return best.sample;
  }

  search(depth, block, lo, hi, after, best) {
    const first = block * FAN ** (depth + 1);
    if (depth < 0) {
      if (this.weights[block] > best.weight && this.endsAfter(block, after)) Object.assign(best, { weight: this.weights[block], sample: block });
      return;
    }
    const { weight, at, end } = this.levels[depth];
    if (weight[block] <= best.weight || (end && end[block] <= after)) return;
    if (first >= lo && first + FAN ** (depth + 1) <= hi && this.endsAfter(at[block], after)) {
      best.weight = weight[block];
      best.sample = at[block];
      return;
    }
    const size = FAN ** depth;
    const last = Math.min(Math.ceil((hi - first) / size), FAN, Math.ceil((this.weights.length - first) / size));
    for (let child = Math.max(0, Math.floor((lo - first) / size)); child < last; child++) this.search(depth - 1, block * FAN + child, lo, hi, after, best);
  }

  endsAfter(sample, moment) {
    return !this.ends || this.ends[sample] > moment;
  }
}
