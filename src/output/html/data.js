// Unpacks the data of the page into tables of integers. pack.rs describes the format.

import { visible } from "./format.js";
import { Nodes, Paths } from "./paths.js";
import { Bytewise, Stacks } from "./stacks.js";
import { inflate } from "./start.js";

/** How a column of names or places is stored: see pack.rs. */
const [OWN, LIST] = [1, 2];

/** Reads variable-length integers: seven bits per byte, the lowest first. */
export class Varints {
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
  /** Many values of up to 32 bits at once. */
  column(length) {
    const { bytes } = this;
    const numbers = new Uint32Array(length);
    let at = this.at;
    for (let i = 0; i < length; i++) {
      let byte = bytes[at++];
      let value = byte & 127;
      for (let shift = 7; byte >= 128; shift += 7) {
        byte = bytes[at++];
        value |= (byte & 127) << shift;
      }
      numbers[i] = value;
    }
    this.at = at;
    return numbers;
  }
  /** Many values below a limit, stored as all their lowest bytes, then all their next ones. */
  bytewise(length, limit) {
    const planes = limit <= 1 ? 0 : Math.ceil(Math.log2(limit) / 8);
    return new Bytewise(this.bytes.subarray(this.at, (this.at += planes * length)), planes);
  }
  /** A column that may be one value, or a number of its own for each row. */
  facts(length) {
    const kind = this.bytes[this.at++];
    if (kind === LIST) return this.smallColumn(length);
    const value = kind === OWN ? 0 : this.next();
    const column = kind !== OWN && value < 1 << 8 ? new Uint8Array(length) : new Uint32Array(length);
    if (kind === OWN) for (let row = 0; row < length; row++) column[row] = row;
    else if (value) column.fill(value);
    return column;
  }
  /** Numbers for some of many items: pairs of both. */
  sparse(big) {
    const pairs = [];
    for (let left = this.next(), item = 0; left > 0; left--) {
      item += this.next();
      pairs.push([item, big ? this.bigSigned() : this.signed()]);
    }
    return pairs;
  }
  /** Many values that are mostly small, in an array that is as small as possible. */
  smallColumn(length) {
    const { bytes, at } = this;
    let bits = 0;
    for (let i = at; i < at + length; i++) bits |= bytes[i];
    // Values of one byte each are as they will be.
    if (bits < 128) return bytes.slice(at, (this.at += length));
    const numbers = this.column(length);
    bits = 0;
    for (let i = 0; i < length; i++) bits |= numbers[i];
    bits >>>= 0;
    return bits < 1 << 8 ? new Uint8Array(numbers) : bits < 1 << 16 ? new Uint16Array(numbers) : numbers;
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

/** Many texts as one, in the order of their numbers: a million of their own would take long to make and to clean up. */
class Texts {
  constructor(varints, count) {
    const lengths = varints.column(count);
    /** Where each text starts, then where the last one ends. */
    this.starts = new Uint32Array(count + 1);
    for (let id = 0; id < count; id++) this.starts[id + 1] = this.starts[id] + lengths[id];
    const bytes = varints.next();
    this.text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(varints.bytes.subarray(varints.at, (varints.at += bytes)));
    this.count = count;
  }
  at(id) {
    return this.text.slice(this.starts[id], this.starts[id + 1]);
  }
  indexOf(text) {
    const { starts, count } = this;
    for (let id = 0; id < count; id++) if (starts[id + 1] - starts[id] === text.length && this.text.startsWith(text, starts[id])) return id;
    return -1;
  }
}

/** Loads the packed data. Values are doubles, or 64-bit integers if sums can exceed 2^52. */
export async function load(...pieces) {
  const bytes = await inflate(...pieces);
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const varints = new Varints(bytes, 4 + length);
  const count = head.name_count;
  const texts = new Texts(varints, count);
  const facts = Object.fromEntries(["package", "file", "line", "group"].map((fact) => [fact, varints.facts(count)]));
  const shorter = new Map(head.short);
  const name = (id) => texts.at(id);
  const short = (id) => shorter.get(id) ?? texts.at(id);
  const places = readPlaces(head, name, short, varints);
  const paths = readStacks(head, varints, places);
  const labelSet = head.label_sets.length > 1 ? varints.column(head.stacks) : new Uint32Array(head.stacks);
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
  const shown = head.plain ? (text) => text : visible;
  for (const column of [...values, ...old]) paths.given.set(column, varints.sparse(column instanceof BigInt64Array));
  const split = new Map(head.split.map(([id, name, place]) => [id, [visible(name), visible(place)]]));
  const sets = new Map(head.sets);
  const calls = head.calls && readCalls(head.calls, metrics[0]);
  return {
    ...head,
    count,
    name,
    short: (id) => shown(short(id)),
    full: (id) => shown(texts.at(id)),
    /** All names. There may be a million. */
    get names() {
      return Array.from({ length: count }, (_, id) => texts.at(id));
    },
    idOf: (text) => texts.indexOf(text),
    label: labels(head.labels, (id) => shown(short(id))),
    facts,
    places,
    paths,
    labelSet,
    metrics,
    split,
    sets,
    calls,
  };
}

/** Returns the name and the place that are written on the blocks of a name. */
function labels(rows, short) {
  const known = new Map(rows.map(([id, name, place]) => [id, [visible(name), place && visible(place)]]));
  return (id) => known.get(id) ?? [short(id), ""];
}

/**
 * Reads the places, which are what patterns match: a name with one function, file and binary. If every
 * name has exactly one place, both have the same ids. Otherwise `name` maps a place to its name.
 */
function readPlaces(head, nameAt, short, varints) {
  const [name, functions, file, mapping, owner, line] = ["name", "function", "file", "mapping", "package", "line"].map(() => varints.facts(head.places));
  const isName = name.length === head.name_count;
  const plain = new Map(head.plain_names);
  const inlined = new Uint8Array(name.length);
  for (const place of head.inlined) inlined[place] = 1;
  return {
    name,
    isName,
    /** The function of a place, and its short name. */
    functionOf: (place) => (functions[place] ? head.functions[functions[place] - 1] : nameAt(name[place])),
    shortOf: (place) => plain.get(place) ?? short(name[place]),
    // The other names are few: each place has the number of its own.
    file,
    files: ["", ...head.files],
    mapping,
    mappings: ["", ...head.mappings],
    package: owner,
    packages: head.packages,
    line,
    inlined,
  };
}

/** Reads the exact numbers of a profile that records calls. */
function readCalls({ note, sides, edges }, { big }) {
  const number = big ? BigInt : Number;
  const column = (texts) => (big ? BigInt64Array.from(texts.map(BigInt)) : Float64Array.from(texts.map(Number)));
  const side = (read) => ({ self: column(read.self), total: column(read.total), edges: edges.map(([caller, callee], edge) => [caller, callee, number(read.edges[edge])]) });
  return { note, sides: sides.map(side) };
}

/** Reads stacks, each stored as the number of frames that it shares with the previous one, and further frames. */
function readStacks(head, varints, { name, isName }) {
  const [shared, further] = [varints.smallColumn(head.stacks), varints.smallColumn(head.stacks)];
  let frames = 0;
  for (let stack = 0; stack < head.stacks; stack++) frames += further[stack];
  const places = varints.bytewise(frames, head.places);
  const repeats = new Uint8Array(frames + 1);
  for (let left = varints.next(), node = 0; left > 0; left--) repeats[(node += varints.next())] = 1;
  return pathsOf(shared, further, places, isName ? null : name, head.name_count, repeats);
}

/** The stacks as a tree. `places` has the further frames of all stacks, after an item for the root. */
export function pathsOf(shared, further, places, nameOf, names, repeats = null) {
  const stacks = new Stacks(shared, further, places);
  const paths = new Paths(new Nodes(null, null, nameOf, names, repeats, null, stacks), stacks.leaves());
  return Object.assign(paths, { stacks, leafNames: stacks.names(paths.leaf, nameOf) });
}

/** Values, in an array that is as small as their sums allow. */
export function readColumn(length, big, varints) {
  if (big) return BigInt64Array.from({ length }, () => varints.bigSigned());
  const column = new Float64Array(length);
  let sum = 0;
  for (let i = 0; i < length; i++) {
    column[i] = varints.signed();
    sum += Math.abs(column[i]);
  }
  return sum < 2 ** 31 ? new Int32Array(column) : column;
}

