// Unpacks the data of the page into tables of integers. pack.rs describes the format.

import { visible } from "./format.js";
import { inflate } from "./start.js";

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
export async function load(text) {
  const bytes = await inflate(text);
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const varints = new Varints(bytes, 4 + length);
  const stacks = readStacks(head, varints);
  const labelSet = new Uint32Array(head.stacks);
  if (head.label_sets.length > 1) for (let i = 0; i < labelSet.length; i++) labelSet[i] = varints.next();
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
  const calls = head.calls && readCalls(head.calls, metrics[0]);
  return { ...head, ...stacks, labelSet, metrics, short: short.map(visible), full, labels, split, places, sets, calls };
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
    files: file.map(text(head.files)),
    mappings: mapping.map(text(head.mappings)),
    packages: packages.map((number) => head.packages[number]),
    inlined,
  };
}

/** Reads the exact numbers of a profile that records calls. */
function readCalls({ note, self_value, total, edges }, { big }) {
  const number = big ? BigInt : Number;
  const column = (texts) => (big ? BigInt64Array.from(texts.map(BigInt)) : Float64Array.from(texts.map(Number)));
  return { note, self: column(self_value), total: column(total), edges: edges.map(([caller, callee, text]) => [caller, callee, number(text)]) };
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

