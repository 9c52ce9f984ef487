// The table of functions, and the callers and callees of a focus.

import { absolute } from "./paths.js";
import { button, element, fill, make, swatch } from "./dom.js";
import { visible } from "./format.js";

const ROWS_AT_ONCE = 50;
const EDGES_AT_ONCE = 10;

/** The interval of a cost is drawn on a logarithmic scale from a fourth to four times as much. */
const WIDEST_RATIO = 4;

/** What the comparison says about a function. */
function verdict(row, model) {
  const word = model.verdictOf(row.id);
  return make("span", word, { className: `verdict ${["inherits", "cause"].includes(word) ? (row.delta > 0 ? "regressed" : "improved") : word}` });
}

/** The cost of a function compared with before, and its 95 % interval as a line. */
function cost(row, model) {
  const found = model.tested.get(row.id);
  if (!found || found.ratio === null) return make("span");
  const made = make("span");
  const interval = make("span", "", { className: "interval" });
  const at = (ratio) => `${(50 + 50 * Math.max(-1, Math.min(1, Math.log(ratio) / Math.log(WIDEST_RATIO)))).toFixed(1)}%`;
  const [line, dot] = [document.createElement("i"), document.createElement("b")];
  const [low, high] = [found.low ?? found.ratio, found.high ?? WIDEST_RATIO];
  line.style.left = at(low);
  line.style.right = `calc(100% - ${at(high)})`;
  dot.style.left = at(found.ratio);
  interval.append(line, dot);
  const isChange = ["regressed", "improved"].includes(found.verdict);
  if (isChange) interval.classList.add(found.verdict);
  made.title = `95% interval ×${low.toFixed(2)} to ×${found.high === null ? "∞" : high.toFixed(2)}, of ${found.of_self ? "self" : "total"}`;
  made.append(interval, ` ×${found.ratio.toFixed(2)}`);
  return made;
}

const isTested = (model) => model.tested.size > 0;

/**
 * The columns. `text` returns the content of a cell, or `node` an element; a column with a `sort` key has a button in its
 * head. A column is left out where `isShown` is false, and on a phone where `isWide` is true.
 * @type {any[]}
 */
const COLUMNS = [
  { name: "Verdict", sort: "verdict", isShown: isTested, node: verdict },
  { name: "Cost", isShown: isTested, isWide: () => true, node: cost },
  { name: "Self", sort: "self", isWide: (model) => model.data.compared, text: (row, model) => model.format.value(row.self) },
  { name: "%", of: "Self", isWide: (model) => model.data.compared, text: (row, model) => model.format.share(row.self, model.whole) },
  { name: "Total", sort: "total", text: (row, model) => model.format.value(row.total) },
  { name: "%", of: "Total", isWide: () => true, text: (row, model) => model.format.share(row.total, model.whole) },
  { name: "% of shown", isShown: (model) => model.isFiltered, isWide: () => true, text: (row, model) => model.format.share(row.total, model.flat.shown) },
  { name: (model) => (model.state.side === "old" ? "New" : "Old"), sort: "old", isShown: (model) => model.data.compared, text: (row, model) => model.format.value(row.other.total) },
  { name: "Change", sort: "delta", isShown: (model) => model.data.compared, text: (row, model) => model.format.signed(row.delta) },
];

/** A column that the page does not count, such as the number of calls. Its title is that of text, in capitals. */
function given({ title, cells }) {
  const of = new Map(cells);
  return { name: title[0] + title.slice(1).toLowerCase(), isWide: () => true, text: (row) => of.get(row.id) ?? "" };
}

export class FunctionTable {
  /** `act` has what a reader can do with a row: change the state, pin, open the callers or the menu, hover. */
  constructor(model, picture, act) {
    this.model = model;
    this.picture = picture;
    this.act = act;
    this.rowsShown = ROWS_AT_ONCE;
    this.columns = [...COLUMNS, ...model.data.further.map(given)];
    element("more").addEventListener("click", () => {
      this.rowsShown += ROWS_AT_ONCE;
      this.show();
    });
    const rowOf = (event) => event.target.closest?.("tr[data-id]");
    const body = element("rows");
    const onRow = (type, deed) =>
      body.addEventListener(type, (event) => {
        const row = rowOf(event);
        if (row) deed(Number(row.dataset.id), event);
      });
    // The button of a caller selects the caller.
    onRow("click", (id, event) => event.target.closest(".caller button") || (event.shiftKey ? act.only(id) : act.pin(id)));
    onRow("dblclick", (id) => act.callers(id));
    onRow("contextmenu", (id, event) => {
      event.preventDefault();
      act.menu(id, event.clientX, event.clientY);
    });
    onRow("mouseover", (id) => act.hover(id));
    body.addEventListener("mouseleave", () => act.hover(-1));
    body.addEventListener("keydown", (event) => this.key(event));
  }

  /** Arrow keys move from row to row. */
  key(event) {
    const row = event.target.closest("tr");
    const next = { ArrowDown: row?.nextElementSibling, ArrowUp: row?.previousElementSibling }[event.key];
    if (!next) return;
    event.preventDefault();
    next.querySelector("button")?.focus();
  }

  show() {
    const { model } = this;
    const { data, state, flat, format } = model;
    const columns = this.columns.filter((column) => column.isShown?.(model) ?? true);
    const heads = columns.map((column) => this.head(column));
    columns.forEach((column, at) => heads[at].classList.toggle("wide-only", Boolean(column.isWide?.(model))));
    const noun = data.noun[0].replace(/^./, (c) => c.toUpperCase());
    const bar = make("th", "", { scope: "col", className: "bar-cell", title: "Dark: self. Pale: total." });
    bar.append(make("span", "self in total", { className: "unseen" }));
    // A comparison has more columns.
    element("functions").classList.toggle("compared", data.compared);
    const name = this.head({ name: noun, sort: "name" });
    name.classList.add("name-head");
    fill(element("columns"), bar, ...heads, name, make("th", "File", { scope: "col", className: "place" }), make("th", "Called by", { scope: "col", className: "caller", title: "The caller that most of it comes from" }));

    const shown = model.table(false, this.rowsShown);
    const ids = model.rowIds();
    const callers = this.act.isLate ? null : model.callersOf(shown.map((row) => row.id));
    const body = shown.map((row) => this.row(row, columns, callers?.get(row.id) ?? -1));
    const summary = (value, text) => {
      const line = make("tr", "", { className: "summary" });
      const before = columns.findIndex((column) => column.sort === "self");
      line.append(make("td", "", { className: "bar-cell", colSpan: before + 1 }), make("td", format.value(value)), make("td", format.share(value, model.whole)));
      line.append(make("td", "", { colSpan: columns.length - before - 2 }), make("td", text));
      body.push(line);
    };
    const rest = ids.length - shown.length;
    // There may be a million. With negative values, this is not the sum that shares are of.
    let all = model.metric.zero;
    for (let at = 0; at < ids.length; at++) all += flat.self[ids[at]];
    const left = shown.reduce((left, row) => left - row.self, all);
    if (rest) summary(left, `… ${rest.toLocaleString("en-US")} more ${data.noun[rest === 1 ? 0 : 1]}`);
    if (!model.found) {
      if (flat.noStack != 0) summary(flat.noStack, "(no stack)");
      summary(all + flat.noStack, model.isFiltered ? "all shown" : "all");
    }
    fill(element("rows"), ...body);
    if (!callers) this.act.later("callers", () => this.fillCallers());
    element("more").hidden = rest === 0;
    element("more").textContent = `Show ${Math.min(ROWS_AT_ONCE, rest)} more`;
    this.mark(state.pin);
  }

  row(row, columns, caller) {
    const { model, picture } = this;
    const line = document.createElement("tr");
    line.dataset.id = row.id;
    line.append(this.bar(row), ...columns.map((column) => this.cell(column, row)));
    const cell = make("td", "", { className: "name-cell" });
    // The place has a column of its own, and is in the tooltip.
    const [label, at] = model.data.label(row.id);
    const name = model.data.split.has(row.id) ? `${label} ${at}`.trim() : model.data.short(row.id);
    const control = make("button", name, { type: "button", className: "name", title: model.data.full(row.id).slice(0, 2000) });
    control.dataset.key = `row ${row.id}`;
    cell.append(swatch(picture.theme.group(model.data.facts.group[row.id])), control);
    const { place } = picture.facts(row.id);
    line.append(cell, make("td", place.length > 48 ? `…${place.slice(-47)}` : place, { className: "place", title: place }), this.caller(caller, row.id));
    return line;
  }

  /** Adds the main callers to the rows. */
  fillCallers() {
    const lines = [...element("rows").querySelectorAll("tr[data-id]")];
    const callers = this.model.callersOf(lines.map((line) => Number(line.dataset.id)));
    for (const line of lines) {
      const id = Number(line.dataset.id);
      line.querySelector(".caller").replaceWith(this.caller(callers.get(id) ?? -1, id));
    }
  }

  /** The main caller of a function, which a click selects. */
  caller(id, callee) {
    const { data } = this.model;
    const cell = make("td", "", { className: "caller" });
    if (id < 0) return cell;
    const control = button(data.label(id)[0], () => this.act.pin(id), { className: "name", title: data.full(id).slice(0, 2000) });
    control.dataset.key = `caller of ${callee}`;
    cell.append(control);
    return cell;
  }

  cell(column, row) {
    const cell = make("td", column.text?.(row, this.model) ?? "", { className: column.of ? "faint" : column.node ? "tested-cell" : "" });
    if (column.node) cell.append(column.node(row, this.model));
    if (column.isWide?.(this.model)) cell.classList.add("wide-only");
    return cell;
  }

  /** Self as a part of total as a part of the whole. */
  bar(row) {
    const whole = Number(this.model.whole) || 1;
    const part = (value) => `${Math.min(100, (100 * Math.abs(Number(value))) / Math.abs(whole)).toFixed(2)}%`;
    const cell = make("td", "", { className: "bar-cell" });
    const [total, self] = [make("span", "", { className: "total" }), make("span", "", { className: "self" })];
    total.style.width = part(row.total);
    self.style.width = part(row.self);
    const bar = make("span", "", { className: "share" });
    bar.append(total, self);
    cell.append(bar);
    return cell;
  }

  head({ name, sort, of = "" }) {
    const { model } = this;
    const { state } = model;
    const head = make("th", "", { scope: "col" });
    const text = typeof name === "function" ? name(model) : name;
    if (!sort) {
      head.textContent = text;
      if (of) head.setAttribute("aria-label", `${of} in percent`);
      return head;
    }
    const current = state.sort === sort;
    const control = button(text + (current ? (state.reversed ? " ▴" : " ▾") : ""), () =>
      this.act.change({ sort, reversed: current && !state.reversed }),
    );
    control.dataset.key = sort;
    head.setAttribute("aria-sort", current ? (state.reversed ? "ascending" : "descending") : "none");
    head.append(control);
    return head;
  }

  /** Marks the row of a name. */
  mark(id, kind = "pinned") {
    for (const row of element("rows").querySelectorAll(`tr.${kind}`)) row.classList.remove(kind);
    if (id >= 0) element("rows").querySelector(`tr[data-id="${id}"]`)?.classList.add(kind);
  }

  /** Lists the direct callers and callees of the focus, wherever on a stack they occur. */
  showEdges() {
    const { edges, zoomedEdges, otherEdges, otherZoomedEdges, focus, state, data } = this.model;
    const box = element("edges");
    box.hidden = !edges;
    if (!edges) return box.replaceChildren();
    const names = focus.map((filter) => visible(filter.text)).join(", ");
    const through = state.zoom.length ? `, when ${state.zoomUp ? "called through" : "calling"} ${data.short(state.zoom.at(-1))}` : "";
    // A zoom into one side narrows the other, as in the picture.
    const sides = [[edges, zoomedEdges], ...(data.compared ? [[otherEdges, otherZoomedEdges]] : [])];
    const [above, below] = [sides.map(([all, zoomed]) => (state.zoomUp ? all : zoomed)), sides.map(([all, zoomed]) => (state.zoomUp ? zoomed : all))];
    const tables = [
      this.edgeTable(`Callers of ${names}${state.zoomUp ? "" : through}`, above, "callers", [["(itself)", "itself"], ["(root)", "root"]]),
      this.edgeTable(`Callees of ${names}${state.zoomUp ? through : ""}`, below, "callees", [["(self)", "self"], ["(itself)", "itself"]]),
    ];
    const note = "rows add up to more than 100%, because one sample can pass through several of them";
    fill(box, ...tables, ...(edges.overlaps ? [make("p", note)] : []));
  }

  /** The callers or the callees of the focus, and what else its value consists of. `sides` is the side that is shown, then the other one. */
  edgeTable(title, sides, key, others) {
    const { model, picture } = this;
    const { data, format, state } = model;
    const table = document.createElement("table");
    table.append(make("caption", title));
    const isBoth = sides.length > 1;
    const head = document.createElement("tr");
    for (const name of ["Total", "%", ...(isBoth ? [state.side === "old" ? "New" : "Old", "Change"] : []), key === "callers" ? "Caller" : "Callee"]) head.append(make("th", name, { scope: "col" }));
    table.append(head);
    const row = ([value, other], name) => {
      const line = document.createElement("tr");
      line.append(make("td", format.value(value)), make("td", format.share(value, sides[0].total)));
      if (isBoth) line.append(make("td", format.value(other)), make("td", format.signed(model.change(value, other))));
      line.append(name);
      table.append(line);
    };
    const valuesOf = (id) => sides.map((side) => side[key][id]);
    const largest = (id) => valuesOf(id).map(absolute).reduce((a, b) => (a < b ? b : a));
    // There may be hundreds of thousands of names.
    const found = new Set();
    for (const side of sides) for (let id = 0; id < data.count; id++) if (side[key][id] != 0) found.add(id);
    const ids = [...found];
    ids.sort((a, b) => (largest(a) < largest(b) ? 1 : largest(a) > largest(b) ? -1 : a - b));
    for (const id of ids.slice(0, EDGES_AT_ONCE)) {
      const cell = make("td", "", { className: "name-cell" });
      const control = button(data.short(id), () => this.act.callers(id), { className: "name", title: data.full(id).slice(0, 2000) });
      control.dataset.key = `${title} ${id}`;
      cell.append(swatch(picture.theme.group(data.facts.group[id])), control);
      row(valuesOf(id), cell);
    }
    const rest = ids.slice(EDGES_AT_ONCE);
    const more = `… ${rest.length.toLocaleString("en-US")} more ${data.noun[rest.length === 1 ? 0 : 1]}`;
    const sumOf = (side) => rest.reduce((sum, id) => sum + side[key][id], model.metric.zero);
    if (rest.length) row(sides.map(sumOf), make("td", more));
    for (const [name, other] of others) {
      const values = sides.map((side) => side[other]);
      if (values.some((value) => value != 0)) row(values, make("td", name));
    }
    return table;
  }
}
