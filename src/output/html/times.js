// When samples were taken: ranges of time, the values of their stacks, and the activity of each thread.

import { Varints, readColumn } from "./data.js";
import { Heaviest } from "./heaviest.js";
import { inflate } from "./start.js";
import { visible } from "./format.js";

/** Fewer spans of the same length may be no samples. */
const FEW_SAMPLES_OF_ROW = 20;

/** Activity is kept in at most this many bins per thread. */
const BINS = 1 << 15;

const UNITS = { ns: 1, us: 1e3, "µs": 1e3, "μs": 1e3, ms: 1e6, s: 1e9, m: 6e10, min: 6e10, h: 3.6e12 };

/** A length of time as the command line takes it: `1.25s`, or null for another text. */
export function parseTime(text) {
  const [, number, unit] = /^\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(ns|us|µs|μs|ms|s|m|min|h)\s*$/.exec(text) ?? [];
  return number === undefined ? null : Number(number) * UNITS[unit];
}

/** Nanoseconds as the command line takes them, exactly. */
export function writeTime(ns) {
  const [suffix, by] = ns >= 1e9 || ns === 0 ? ["s", 9] : ns >= 1e6 ? ["ms", 6] : ns >= 1e3 ? ["us", 3] : ["ns", 0];
  const digits = String(Math.round(ns)).padStart(by + 1, "0");
  const rest = digits.slice(digits.length - by).replace(/0+$/, "");
  return `${digits.slice(0, digits.length - by)}${by && rest ? `.${rest}` : ""}${suffix}`;
}

/** Reads the times that times.rs packs. */
export async function loadTimes(pieces, metrics, stacks) {
  const bytes = await inflate(...pieces);
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const varints = new Varints(bytes, 4 + length);
  const count = head.rows.reduce((sum, [, samples]) => sum + samples, 0);
  const time = varints.column(count);
  let at = 0;
  const rows = head.rows.map(([name, samples]) => {
    for (let i = at + 1; i < at + samples; i++) time[i] += time[i - 1];
    const row = { name: visible(name), lo: at, hi: at + samples };
    at = row.hi;
    return row;
  });
  const stack = varints.column(count);
  const values = metrics.map(({ big }) => readColumn(count, big, varints));
  const late = head.cuts.includes(true) ? readColumn(count, false, varints) : null;
  const idle = head.idle.map((distances) => idleStacks(distances, stacks));
  return new Times({ ...head, rows, time, stack, values, late, stacks, idle });
}

/** For each stack, whether nothing happens in it; null if something happens in all. */
function idleStacks(distances, stacks) {
  if (!distances.length) return null;
  const isIdle = new Uint8Array(stacks);
  let stack = 0;
  for (const distance of distances) isIdle[(stack += distance)] = 1;
  return isIdle;
}

export class Times {
  constructor({ step, from, steps, rows, time, stack, values, late, lasts, cuts, clocks, stacks, idle, pauses }) {
    /** The length of a step, and where the first one begins, in nanoseconds from the start of the recording. */
    this.step = step;
    this.from = from;
    this.steps = steps;
    /** The threads, each with its range of samples, which are sorted by time. */
    this.rows = rows;
    /** The step, the stack and, for each metric, the value of each sample. */
    this.time = time;
    this.stack = stack;
    this.values = values;
    /** For each metric, how many nanoseconds a value of 1 lasts; 0 if its values are no times. */
    this.lasts = lasts;
    /** For each metric, whether its values are spans or waits, of which a range of time has a part. */
    this.cuts = cuts;
    /** For each metric, whether its samples say what a thread does all the time. */
    this.clocks = clocks;
    /** How many nanoseconds after its step each sample began; less than 0 if it began before the recording. */
    this.late = late;
    this.stacks = stacks;
    /** For each metric, which stacks are idle, or null if none is. */
    this.idle = idle;
    /** The pauses of a garbage collector in order: where each begins and how long it is, in nanoseconds, and why. */
    this.pauses = pauses;
    /** @type {Map<any, any>} */
    this.known = new Map();
    /** The row whose samples were sorted last. */
    this.kept = null;
  }

  /** The moment at which a step begins, in nanoseconds from the start of the recording. */
  at(step) {
    return this.from + step * this.step;
  }
  text(step) {
    return writeTime(this.at(step));
  }

  /** The step nearest to a time as it is typed, or null for another text. */
  stepOf(text) {
    const ns = parseTime(text);
    return ns === null ? null : Math.max(0, Math.min(this.steps, Math.round((ns - this.from) / this.step)));
  }

  /** The range of time that filters leave, or null if they leave all. */
  range(filters) {
    const of = (kind) => filters.filter((filter) => filter.kind === kind).map((filter) => this.stepOf(filter.text)).filter((step) => step !== null);
    const [from, to] = [of("from"), of("to")];
    return from.length || to.length ? [Math.max(0, ...from), Math.min(this.steps, ...to)] : null;
  }

  /** The first sample of a row at a step or later. */
  find({ lo, hi }, step) {
    const { time } = this;
    while (lo < hi) {
      const middle = (lo + hi) >>> 1;
      if (time[middle] < step) lo = middle + 1;
      else hi = middle;
    }
    return lo;
  }

  /** For each stack, its value in a range of time and whether it has samples there. */
  within(metric, [from, to]) {
    const column = this.values[metric];
    /** @type {any} */
    const values = column instanceof BigInt64Array ? new BigInt64Array(this.stacks) : new Float64Array(this.stacks);
    const has = new Uint8Array(this.stacks);
    if (this.cuts[metric]) {
      const [first, last] = [from > 0 ? this.at(from) : -Infinity, to < this.steps ? this.at(to) : Infinity];
      for (let sample = 0; sample < this.time.length; sample++) {
        const part = this.part(metric, sample, first, last);
        const begins = this.time[sample] >= from && this.time[sample] < to;
        if (!begins && !part) continue;
        values[this.stack[sample]] += part;
        has[this.stack[sample]] = 1;
      }
      return { values, has };
    }
    for (const row of this.rows) {
      const end = this.find(row, to);
      for (let sample = this.find(row, from); sample < end; sample++) {
        values[this.stack[sample]] += column[sample];
        has[this.stack[sample]] = 1;
      }
    }
    return { values, has };
  }

  /** The part of a span between two moments, rounded as the command line does: parts of ranges that meet add up. */
  part(metric, sample, from, to) {
    const value = this.values[metric][sample];
    const start = this.at(this.time[sample]) + this.late[sample];
    const length = Math.floor(Math.abs(Number(value)) * this.lasts[metric]);
    if (start >= from && start + length <= to) return value;
    const of = (moment) => {
      const passed = Math.max(0, Math.min(length, moment - start));
      return length ? (BigInt(value) * BigInt(Math.round(passed))) / BigInt(length) : 0n;
    };
    const part = of(to) - of(from);
    return typeof value === "bigint" ? part : Number(part);
  }

  /** The step in which a sample began, less than 0 if that was before the recording. */
  begin(sample) {
    return this.time[sample] + Math.min(0, (this.late?.[sample] ?? 0) / this.step);
  }

  /** How many steps a sample lasts; 0 for a moment. */
  length(metric, sample) {
    return (Math.abs(Number(this.values[metric][sample])) * this.lasts[metric]) / this.step;
  }

  /** The number of steps in a bin of activity. */
  get stepsPerBin() {
    return Math.max(1, Math.ceil(this.steps / BINS));
  }

  /**
   * For each row, the value before each bin; the difference of two is what was spent between them. Only kept stacks count, and
   * with `only` those of them that it has.
   */
  activity(metric, leaf, only = null) {
    const per = this.stepsPerBin;
    const bins = Math.ceil(this.steps / per) + 1;
    return this.rows.map((row) => {
      // What each bin has by itself, and how much more than the one before it has of samples that last longer.
      const [own, slope] = [new Float64Array(bins + 1), new Float64Array(bins + 1)];
      for (let sample = row.lo; sample < row.hi; sample++) {
        const stack = this.stack[sample];
        if (leaf[stack] < 0 || (only && !only[stack])) continue;
        const value = Math.abs(Number(this.values[metric][sample]));
        const start = this.begin(sample) / per;
        const whole = start + this.length(metric, sample) / per;
        const end = Math.min(whole, bins);
        const [first, last] = [Math.max(0, Math.floor(start)), Math.min(Math.ceil(end) - 1, bins - 1)];
        if (whole <= 0 && start < 0) continue;
        if (last <= first) {
          own[first] += value;
          continue;
        }
        const rate = value / (whole - start);
        own[first] += rate * (first + 1 - Math.max(0, start));
        own[last] += rate * (end - last);
        slope[first + 1] += rate;
        slope[last] -= rate;
      }
      const before = new Float64Array(bins + 1);
      for (let bin = 0, rate = 0; bin < bins; bin++) {
        rate += slope[bin];
        before[bin + 1] = before[bin] + own[bin] + rate;
      }
      return before;
    });
  }

  /** A test of whether a sample says what its thread did, for a metric: an allocation says nothing of CPU time. */
  tells(metric) {
    const columns = this.values.filter((_, other) => other === metric || this.clocks[other]);
    return (sample) => columns.some((column) => column[sample] != 0);
  }

  /** The usual distance between samples of a row that tell something of a metric, in steps: the median of some. */
  period(row, metric) {
    const key = `period ${metric} ${row.lo}`;
    if (!this.known.has(key)) {
      const tells = this.tells(metric);
      const times = [];
      for (let sample = row.lo; sample < row.hi; sample++) if (tells(sample)) times.push(this.time[sample]);
      const gaps = [];
      const by = Math.max(1, Math.floor(times.length / 1000));
      for (let at = 1; at < times.length; at += by) gaps.push(times[at] - times[at - 1]);
      gaps.sort((a, b) => a - b);
      this.known.set(key, Math.max(gaps[gaps.length >> 1] ?? 1, 0.5));
    }
    return this.known.get(key);
  }

  /**
   * The heaviest stack of a row in each of some columns, as its leaf, or -1. `from` is the step at which the first column
   * begins, `per` the number of steps of a column. A span lasts as long as its value says. A sample, whose value is that of
   * all others, lasts until the next one, but not longer than three times the usual distance.
   */
  columns(row, metric, leaf, from, per, count) {
    const found = new Int32Array(count).fill(-1);
    const { heaviest, before, after } = this.ofRow(row, metric, leaf);
    const longest = this.longest(row, metric);
    const usual = 3 * this.period(row, metric);
    /** The sample before some, if it counts and lasts until a step, else -1. */
    const lasting = (here, until) => {
      const sample = here > row.lo ? before[here - row.lo - 1] : -1;
      if (sample < 0 || !(heaviest.weights[sample] > 0)) return -1;
      const start = this.begin(row.lo + sample);
      const next = after[sample] < 0 ? usual : this.time[row.lo + after[sample]] - start;
      return start + Math.min(next, usual) > until ? sample : -1;
    };
    let next = this.find(row, from);
    for (let column = 0; column < count; column++) {
      const begin = from + column * per;
      const here = next;
      next = this.find({ lo: here, hi: row.hi }, begin + per);
      // What began earlier may last until here: of samples, only the previous one.
      const earlier = longest > 0 ? heaviest.find(this.find(row, begin - longest) - row.lo, here - row.lo, begin) : lasting(here, begin);
      let sample = heaviest.find(here - row.lo, next - row.lo);
      if (earlier >= 0 && (sample < 0 || heaviest.weights[earlier] >= heaviest.weights[sample])) sample = earlier;
      if (sample >= 0) found[column] = leaf[this.stack[row.lo + sample]];
    }
    return found;
  }

  /**
   * The samples of a row by weight; stacks that are filtered out weigh nothing. `before` has for each sample the last one up
   * to there that tells something of the metric, `after` the next one after it, or -1. Kept for the row that is drawn.
   */
  ofRow(row, metric, leaf) {
    const { kept } = this;
    if (kept && kept.row === row && kept.metric === metric && kept.leaf === leaf) return kept;
    const { lo, hi } = row;
    const column = this.values[metric];
    const weights = new Float64Array(hi - lo);
    for (let sample = lo; sample < hi; sample++) if (leaf[this.stack[sample]] >= 0) weights[sample - lo] = Math.abs(Number(column[sample]));
    let ends = null;
    if (this.longest(row, metric) > 0) {
      ends = new Float64Array(hi - lo);
      for (let sample = lo; sample < hi; sample++) ends[sample - lo] = this.begin(sample) + this.length(metric, sample);
    }
    const [before, after] = [new Int32Array(hi - lo), new Int32Array(hi - lo)];
    const tells = this.tells(metric);
    for (let at = 0, last = -1; at < hi - lo; at++) before[at] = last = tells(lo + at) ? at : last;
    for (let at = hi - lo - 1, next = -1; at >= 0; at--) {
      after[at] = next;
      if (tells(lo + at)) next = at;
    }
    this.kept = { row, metric, leaf, heaviest: new Heaviest(weights, ends), before, after };
    return this.kept;
  }

  /** The longest span of a row, in steps; 0 if its values are no times, or all the same, which is how samples are weighted. */
  longest(row, metric) {
    const key = `${metric} ${row.lo}`;
    if (!this.known.has(key)) {
      let [shortest, longest] = [Infinity, 0];
      for (let sample = row.lo; sample < row.hi; sample++) {
        const length = this.length(metric, sample);
        if (length > 0) shortest = Math.min(shortest, length);
        longest = Math.max(longest, length);
      }
      const isSampled = shortest === longest && row.hi - row.lo > FEW_SAMPLES_OF_ROW;
      this.known.set(key, isSampled ? 0 : longest);
    }
    return this.known.get(key);
  }
}
