"use strict";
// Unpacks the data of the page into tables of integers. pack.rs describes the format.

/** Decodes base64 and inflates. */
async function inflate(text) {
  const coded = atob(text);
  const packed = new Uint8Array(coded.length);
  for (let i = 0; i < coded.length; i++) packed[i] = coded.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Reads variable-length integers: seven bits per byte, the lowest first. */
class Varints {
  constructor(bytes, at) {
    this.bytes = bytes;
    this.at = at;
  }
  next() {
    const first = this.bytes[this.at++];
    if (first < 128) return first;
    let value = first & 127;
    for (let unit = 128; ; unit *= 128) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * unit;
      if (byte < 128) return value;
    }
  }
  /** A signed value; exact up to 2^52. */
  signed() {
    const code = this.next();
    return code % 2 ? -(code + 1) / 2 : code / 2;
  }
  /** A signed value of up to 64 bits. */
  bigSigned() {
    let code = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.bytes[this.at++];
      code |= BigInt(byte & 127) << shift;
      if (byte < 128) return (code >> 1n) ^ -(code & 1n);
    }
  }
}

/** Loads the packed data. Values are doubles, or 64-bit integers if sums can exceed 2^52. */
async function load(text) {
  const bytes = await inflate(text);
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const varints = new Varints(bytes, 4 + length);
  const stacks = readStacks(head, varints);
  const columns = () => head.metrics.map((metric) => readColumn(head.stacks, metric.big, varints));
  const values = columns();
  const old = head.compared ? columns() : [];
  const metrics = head.metrics.map((metric, number) => {
    const whole = metric.big ? BigInt : Number;
    return {
      ...metric,
      zero: whole(0),
      total: whole(metric.total),
      oldTotal: whole(metric.old_total),
      values: values[number],
      old: old[number],
    };
  });
  const short = head.names.slice();
  for (const [id, name] of head.short) short[id] = name;
  const labels = short.map((name) => [visible(name), ""]);
  for (const [id, name, place] of head.labels) labels[id] = [visible(name), place && visible(place)];
  const split = new Map(head.split.map(([id, name, place]) => [id, [visible(name), visible(place)]]));
  const places = readPlaces(head, short);
  const sets = new Map(head.sets);
  const full = head.names.map(visible);
  return { ...head, ...stacks, metrics, short: short.map(visible), full, labels, split, places, sets };
}

/**
 * Reads the places, which are what patterns match: a name with one function, file and binary. If every
 * name has exactly one place, both have the same ids. Otherwise `name` maps a place to its name.
 */
function readPlaces(head, short) {
  const { name, function: functions, file, mapping, package: packages } = head.places;
  const text = (table) => (number) => (number ? table[number - 1] : "");
  const plain = name.map((id) => short[id]);
  for (const [place, own] of head.plain) plain[place] = own;
  const inlined = new Uint8Array(name.length);
  for (const place of head.places.inlined) inlined[place] = 1;
  return {
    name: Uint32Array.from(name),
    isName: name.length === head.names.length,
    functions: functions.map((number, place) => (number ? head.functions[number - 1] : head.names[name[place]])),
    plain,
    files: file.map(text(head.files.map(([file]) => file))),
    mappings: mapping.map(text(head.mappings)),
    packages: packages.map((number) => head.packages[number][0]),
    inlined,
  };
}

/** Reads stacks, each stored as the number of frames it shares with the previous one, and further frames. */
function readStacks(head, varints) {
  const column = () => {
    const numbers = new Uint32Array(head.stacks);
    for (let i = 0; i < numbers.length; i++) numbers[i] = varints.next();
    return numbers;
  };
  const shared = column();
  const further = column();
  const frames = new Uint32Array(head.frames);
  const start = new Uint32Array(head.stacks + 1);
  let at = 0;
  for (let stack = 0, before = 0; stack < head.stacks; stack++) {
    start[stack] = at;
    frames.copyWithin(at, before, before + shared[stack]);
    before = at;
    at += shared[stack];
    for (let left = further[stack]; left > 0; left--) frames[at++] = varints.next();
  }
  start[head.stacks] = at;
  return { frames, start, stackCount: head.stacks };
}

function readColumn(length, big, varints) {
  const column = big ? new BigInt64Array(length) : new Float64Array(length);
  for (let i = 0; i < length; i++) column[i] = big ? varints.bigSigned() : varints.signed();
  return column;
}

/** Escapes control characters, and characters that are invisible or reorder text. */
function visible(name) {
  if (name === "") return '""';
  const unseen = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;
  return name.replace(unseen, (c) => "\\u{" + c.codePointAt(0).toString(16) + "}");
}

/**
 * Formats the values of a metric in one unit, and percentages. As on the command line, a value that would
 * have fewer than two digits is formatted in a smaller unit, for example 3.1ms in a column of seconds.
 */
class Format {
  constructor(metric) {
    this.units = metric.units;
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
  share(value, whole) {
    if (whole == 0) return "";
    const percent = (100 * Number(value)) / Number(whole);
    if (percent !== 0 && Math.abs(percent) < 0.05) return percent < 0 ? "-<0.1%" : "<0.1%";
    return percent.toFixed(1) + "%";
  }
}

/** Converts a value of a metric to a unit. */
function inUnit(value, unit) {
  return (Number(value) * unit.times) / unit.by;
}
