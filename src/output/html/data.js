// Unpacks the data of the page into tables of integers. pack.rs describes the format.

import { visible } from "./format.js";
import { Nodes, Paths } from "./paths.js";
import { inflate } from "./start.js";

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
  /** Many values of up to 32 bits at once, the first of them at an index. */
  column(length, first = 0) {
    const { bytes } = this;
    const numbers = new Uint32Array(first + length);
    let at = this.at;
    for (let i = first; i < numbers.length; i++) {
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
  /** Many values below a limit, stored as all their lowest bytes, then all their next ones. The first is at an index. */
  bytewise(length, limit, first) {
    const { bytes, at } = this;
    const numbers = new Uint32Array(first + length);
    const planes = limit <= 1 ? 0 : Math.ceil(Math.log2(limit) / 8);
    const [second, third, fourth] = [at + length, at + 2 * length, at + 3 * length];
    // One pass for the usual numbers of bytes.
    if (planes === 1) for (let i = 0; i < length; i++) numbers[first + i] = bytes[at + i];
    if (planes === 2) for (let i = 0; i < length; i++) numbers[first + i] = bytes[at + i] | (bytes[second + i] << 8);
    if (planes > 2) for (let i = 0; i < length; i++) numbers[first + i] = bytes[at + i] | (bytes[second + i] << 8) | (bytes[third + i] << 16);
    if (planes > 3) for (let i = 0; i < length; i++) numbers[first + i] |= bytes[fourth + i] << 24;
    this.at += planes * length;
    return numbers;
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

/** Loads the packed data. Values are doubles, or 64-bit integers if sums can exceed 2^52. */
export async function load(...pieces) {
  const bytes = await inflate(...pieces);
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const varints = new Varints(bytes, 4 + length);
  const short = head.names.slice();
  for (const [id, name] of head.short) short[id] = name;
  const facts = Object.fromEntries(["package", "file", "line", "group"].map((fact) => [fact, varints.smallColumn(head.names.length)]));
  const places = readPlaces(head, short, varints);
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
  const shown = head.plain ? (names) => names : (names) => names.map(visible);
  const names = { short: shown(short), full: shown(head.names) };
  const split = new Map(head.split.map(([id, name, place]) => [id, [visible(name), visible(place)]]));
  const sets = new Map(head.sets);
  const calls = head.calls && readCalls(head.calls, metrics[0]);
  return {
    ...head,
    ...names,
    label: labels(head.labels, names.short),
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
  return (id) => known.get(id) ?? [short[id], ""];
}

/**
 * Reads the places, which are what patterns match: a name with one function, file and binary. If every
 * name has exactly one place, both have the same ids. Otherwise `name` maps a place to its name.
 */
function readPlaces(head, short, varints) {
  const [name, functions, file, mapping, owner, line] = ["name", "function", "file", "mapping", "package", "line"].map(() => varints.smallColumn(head.places));
  const isName = name.length === head.names.length;
  const own = (table) => (number, place) => (number ? table[number - 1] : head.names[name[place]]);
  const plain = isName && !head.plain_names.length ? short : Array.from(name, (id) => short[id]);
  for (const [place, text] of head.plain_names) plain[place] = text;
  const inlined = new Uint8Array(name.length);
  for (const place of head.inlined) inlined[place] = 1;
  return {
    name,
    isName,
    functions: isName && !head.functions.length ? head.names : Array.from(functions, own(head.functions)),
    plain,
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
  const [shared, further] = [varints.column(head.stacks), varints.column(head.stacks)];
  let frames = 0;
  for (let stack = 0; stack < head.stacks; stack++) frames += further[stack];
  const places = varints.bytewise(frames, head.places, 1);
  const repeats = new Uint8Array(places.length);
  for (let left = varints.next(), node = 0; left > 0; left--) repeats[(node += varints.next())] = 1;
  return pathsOf(shared, further, places, isName ? null : name, head.names.length, repeats);
}

/** The stacks as a tree. `places` has the further frames of all stacks, after an item for the root. */
export function pathsOf(shared, further, places, nameOf, names, repeats = null) {
  const { length } = places;
  const [parent, end, leaf] = [new Uint32Array(length), new Uint32Array(length), new Int32Array(shared.length)];
  // The nodes of the current stack, the root first.
  const path = [0];
  let [node, depth] = [1, 0];
  for (let stack = 0; stack < shared.length; stack++) {
    for (const common = shared[stack]; depth > common; depth--) end[path[depth]] = node;
    let above = path[depth];
    for (let left = further[stack]; left > 0; left--) {
      parent[node] = above;
      path[++depth] = above = node++;
    }
    leaf[stack] = above;
  }
  for (; depth > 0; depth--) end[path[depth]] = node;
  end[0] = length;
  return new Paths(new Nodes(places, parent, nameOf, names, repeats, end), leaf);
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

