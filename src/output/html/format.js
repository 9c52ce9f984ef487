// Names and numbers as text.

/** Escapes control characters, and characters that are invisible or reorder text. */
export function visible(name) {
  if (name === "") return '""';
  const unseen = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;
  return name.replace(unseen, (c) => "\\u{" + c.codePointAt(0).toString(16) + "}");
}

/**
 * Formats the values of a metric in one unit, and percentages. As on the command line, a value that would
 * have fewer than two digits is formatted in a smaller unit, for example 3.1ms in a column of seconds.
 */
export class Format {
  /** `largest` is the largest value: the units that are too large for it are left out. */
  constructor(metric, largest) {
    const { units } = metric;
    const first = units.findIndex((unit, index) => index === units.length - 1 || isEnough(largest, unit, units[index + 1]));
    this.units = units.slice(first);
    this.writers = new Map();
  }
  /** Formats a number with exactly this many decimals. */
  fixed(number, decimals) {
    if (!this.writers.has(decimals)) {
      const options = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
      this.writers.set(decimals, new Intl.NumberFormat("en-US", options));
    }
    return this.writers.get(decimals).format(number);
  }
  /** The unit in which a value is formatted, and the number of decimals. */
  written(value) {
    const digits = (unit, decimals) => Math.round(Math.abs(inUnit(value, unit)) * 10 ** decimals);
    const holds = (unit, decimals) => digits(unit, decimals) >= unit.from * 10 ** decimals;
    const [column, ...smaller] = this.units;
    if (digits(column, column.decimals) >= 10 || holds(column, column.decimals)) return [column, column.decimals];
    const unit = smaller.find((unit) => holds(unit, 1));
    if (unit) return [unit, digits(unit, 0) >= 10 ? 0 : Math.min(unit.decimals, 1)];
    const last = this.units[this.units.length - 1];
    for (let decimals = last.decimals; decimals <= 9; decimals++) {
      const scaled = Math.abs(inUnit(value, last)) * 10 ** decimals;
      const isExact = Math.round(scaled) > 0 && Math.abs(scaled - Math.round(scaled)) < 1e-9;
      if (Math.round(scaled) >= 10 || isExact) return [last, decimals];
    }
    return [last, 9];
  }
  value(value) {
    if (value == 0) return "0";
    const [unit, decimals] = this.written(value);
    const number = inUnit(value, unit);
    const least = 10 ** -decimals;
    if (Math.abs(number) < least / 2) return (number < 0 ? "-<" : "<") + this.fixed(least, decimals) + unit.suffix;
    return this.fixed(number, decimals) + unit.suffix;
  }
  signed(value) {
    return (value > 0 ? "+" : "") + this.value(value).replace(/^-/, "−");
  }
  /** As on the command line, nothing is a share of a whole that is not positive. */
  share(value, whole) {
    if (whole <= 0) return "";
    const percent = (100 * Number(value)) / Number(whole);
    if (percent !== 0 && Math.abs(percent) < 0.05) return percent < 0 ? "-<0.1%" : "<0.1%";
    return percent.toFixed(1) + "%";
  }
}

/** Whether a value, as it would be written in the smaller of two units, is large enough for the larger one. */
function isEnough(value, unit, smaller) {
  const written = Math.round(Math.abs(inUnit(value, smaller)) * 10 ** smaller.decimals) / 10 ** smaller.decimals;
  return written >= (unit.from * smaller.times * unit.by) / (smaller.by * unit.times);
}

/** Converts a value of a metric to a unit. */
function inUnit(value, unit) {
  return (Number(value) * unit.times) / unit.by;
}
