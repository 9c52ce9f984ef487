// The tab of source lines, for functions whose source was found when the page was written.

import { element, fill, make } from "./dom.js";
import { visible } from "./format.js";
import { sizes } from "./paths.js";

/** Lines with at least this part of the function's total are tinted. */
const NOTABLE_LINE = 0.05;

export class SourceView {
  constructor(model, act) {
    this.model = model;
    this.act = act;
    this.sources = model.data.sources;
  }

  /** The functions with source, as numbers of names. */
  has(id) {
    return this.sources.some((source) => source.id === id);
  }

  show() {
    const { model } = this;
    const { data } = model;
    const box = element("source");
    const size = (id) => Math.abs(Number(model.flat.self[id]));
    const heaviest = this.sources.reduce((best, { id }) => (size(id) > size(best) ? id : best), this.sources[0].id);
    const chosen = this.has(model.state.pin) ? model.state.pin : heaviest;
    const choice = make("select", "", { ariaLabel: "Function" });
    choice.dataset.key = "function";
    for (const id of new Set(this.sources.map((source) => source.id))) choice.append(make("option", data.short(id).slice(0, 200), { value: id, selected: id === chosen }));
    choice.addEventListener("change", () => this.act.pin(Number(choice.value)));
    const notes = [];
    if (model.state.pin >= 0 && !this.has(model.state.pin)) notes.push(`The page has no source of ${data.short(model.state.pin)}.`);
    if (data.calls && (model.isNarrowed || model.state.side === "old")) notes.push("These lines count the whole new profile, without filters: the file does not say which stacks they are on.");
    const parts = this.sources.filter((source) => source.id === chosen).map((source) => this.table(source));
    const label = make("label", "Source of ");
    label.append(choice);
    fill(box, label, ...notes.map((note) => make("p", note, { className: "narrowed" })), ...parts);
  }

  /** The lines of a source: number, self, total and text. Those of another metric or side may have no text. */
  rows({ id, file, lines, calls }) {
    const { data, paths, values, metric, state } = this.model;
    const whole = metric.big ? BigInt : Number;
    const side = (value) => this.model.side(value, state.side === "old");
    if (data.calls) return lines.map(([number, text], at) => ({ number, text, self: whole(calls[at][0]), total: whole(calls[at][1]) }));
    const counted = countLines(data, paths, values, metric.zero, id, file);
    const row = (number, text) => {
      const { self, total } = counted.get(number) ?? { self: metric.zero, total: metric.zero };
      counted.delete(number);
      return { number, text, self: side(self), total: side(total) };
    };
    const listed = lines.map(([number, text]) => row(number, text));
    const others = [...counted.keys()].sort((a, b) => a - b).map((number) => row(number, null));
    return [...listed, ...others];
  }

  table(source) {
    const { format, whole } = this.model;
    const rows = this.rows(source);
    const table = make("table", "", { className: "lines" });
    table.append(make("caption", visible(source.file)));
    const head = make("tr");
    for (const name of ["Self", "Total", "%", "Line", "Source"]) head.append(make("th", name, { scope: "col" }));
    table.append(head);
    const size = (value) => Math.abs(Number(value));
    const most = rows.reduce((most, { total }) => Math.max(most, size(total)), 0);
    for (const { number, text, self, total } of rows) {
      const row = make("tr");
      const value = (value) => (value == 0 ? "" : format.value(value));
      const strength = size(total) / (most || 1);
      if (strength >= NOTABLE_LINE) row.style.setProperty("--heat", `${Math.round(strength * 60)}%`);
      const share = total == 0 ? "" : format.share(total, whole);
      row.append(make("td", value(self)), make("td", value(total)), make("td", share), make("td", number || "?", { className: "number" }), make("td", text === null ? "(no source)" : visible(text.replaceAll("\t", "    ")) === '""' ? "" : text.replaceAll("\t", "    "), { className: "code" }));
      table.append(row);
    }
    return table;
  }
}

/** Self and total of the lines of a function in a file, by their numbers. A stack adds to the total of a line at most once. */
function countLines(data, paths, values, zero, id, file) {
  const { name, file: fileOf, files, line } = data.places;
  const { nodes, leaf } = paths;
  const { places, end, length } = nodes;
  // The number of the line of each place of the function, and -1 for all others.
  const lineOf = Int32Array.from(name, (other, place) => (other === id && files[fileOf[place]] === file ? line[place] : -1));
  const found = new Map();
  const at = (number) => found.get(number) ?? found.set(number, { self: zero, total: zero }).get(number);
  for (let stack = 0; stack < leaf.length; stack++) {
    const number = leaf[stack] > 0 ? lineOf[places[leaf[stack]]] : -1;
    if (number >= 0) at(number).self += values[stack];
  }
  const [below, size] = [paths.below(values, zero), paths.below(sizes(values), zero)];
  // The lines that the current node is below, each with the node that ends it.
  const open = [];
  for (let node = 1; node < length; ) {
    while (open.length && node >= open.at(-1).end) open.pop();
    const number = lineOf[places[node]];
    if (number >= 0 && !open.some((line) => line.number === number)) {
      at(number).total += below[node];
      open.push({ number, end: end[node] });
    }
    node = size[node] == 0 ? end[node] : node + 1;
  }
  return found;
}
