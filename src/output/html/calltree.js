// The call tree as rows that open and close.

import { splitterOf } from "./split.js";
import { element, fill, make, swatch } from "./dom.js";

const CHILDREN_AT_ONCE = 50;
/** Rows are opened at the start while one child has this part of its parent. */
const HEAVY_CHILD = 0.5;
/** Further rows of a heavy path are opened with the last of these: recursion may take thousands of calls. */
const OPENED_AT_ONCE = 200;

export class CallTree {
  constructor(model, picture, act) {
    this.model = model;
    this.picture = picture;
    this.act = act;
    /** The rows that are shown. @type {any[]} */
    this.rows = [];
    const rowOf = (/** @type {any} */ event) => this.rows[event.target.closest?.("tr[data-row]")?.dataset.row];
    const body = element("tree-rows");
    body.addEventListener("click", (event) => {
      const row = rowOf(event);
      if (!row) return;
      if (row.more) row.parent.shown += CHILDREN_AT_ONCE;
      else {
        this.toggle(row);
        act.pin(row.name);
      }
      this.draw();
    });
    body.addEventListener("contextmenu", (event) => {
      const row = rowOf(event);
      if (!row || row.more || row.name < 0) return;
      event.preventDefault();
      act.menu(row.name, event.clientX, event.clientY);
    });
    body.addEventListener("keydown", (event) => this.key(event));
  }

  /** Starts with the heaviest path open. */
  show() {
    const { model } = this;
    const options = { names: model.data.count, inlined: model.data.places.inlined };
    this.splitter = splitterOf(model.rootedPaths, model.values, model.otherValues, model.metric.zero, options);
    this.root = { ...this.splitter.whole(), isOpen: false, shown: CHILDREN_AT_ONCE };
    this.root.self = this.splitter.selfOf(this.root);
    this.openPath(this.root);
    this.draw();
  }

  /** Opens a row and the heaviest path below it. */
  openPath(row) {
    let node = row;
    for (let opened = 0; node && opened < OPENED_AT_ONCE; opened++) {
      node.isOpen = true;
      node.goesOn = false;
      const [heaviest] = this.children(node);
      node = heaviest && heaviest.width >= HEAVY_CHILD * node.width ? heaviest : null;
    }
    if (node) node.goesOn = true;
  }

  children(node) {
    if (!node.children) {
      const found = this.splitter.split(node, 0, 0).filter((child) => child.width > 0);
      node.children = found.map((child) => ({ ...child, self: this.splitter.selfOf(child), up: node, isOpen: false, shown: CHILDREN_AT_ONCE }));
      node.children.sort((a, b) => b.width - a.width || a.name - b.name);
    }
    return node.children;
  }

  toggle(node) {
    if (node.goesOn) return this.openPath(node);
    node.isOpen = !node.isOpen && this.children(node).length > 0;
  }

  /** The rows that are open, from top to bottom. A work list instead of recursion handles stacks of any depth. */
  visibleRows() {
    const rows = /** @type {any[]} */ ([]);
    const work = /** @type {any[]} */ ([this.root]);
    while (work.length) {
      const node = work.pop();
      rows.push(node);
      if (node.more || !node.isOpen) continue;
      const children = this.children(node);
      if (children.length > node.shown) work.push({ more: children.length - node.shown, parent: node, depth: node.depth + 1 });
      for (const child of children.slice(0, node.shown).reverse()) work.push(child);
    }
    return rows;
  }

  draw() {
    this.rows = this.visibleRows();
    fill(element("tree-rows"), ...this.rows.map((row, index) => this.row(row, index)));
  }

  row(row, index) {
    const { model, picture } = this;
    const { data, format } = model;
    const line = make("tr", "", { tabIndex: index ? -1 : 0 });
    line.dataset.row = index;
    line.setAttribute("aria-level", String(row.depth + 1));
    const name = make("td", "", { className: "name-cell" });
    const indent = make("span", "", { className: "indent" });
    indent.style.width = `calc(${Math.min(row.depth, 60)} * var(--indent))`;
    if (row.more) {
      line.dataset.key = `more ${index}`;
      name.append(indent, make("span", `… ${row.more.toLocaleString("en-US")} more`));
      line.append(make("td"), make("td"), make("td"), make("td"), name);
      return line;
    }
    const side = (value) => model.side(value, model.state.side === "old");
    const [total, self] = [side(row.total), side(row.self)];
    const isLeaf = this.children(row).length === 0;
    if (!isLeaf) line.setAttribute("aria-expanded", row.isOpen);
    line.dataset.key = `tree ${index}`;
    name.append(indent, make("span", isLeaf ? "" : row.isOpen ? "▾" : "▸", { className: "arrow" }));
    if (row.name >= 0) name.append(swatch(picture.theme.group(data.facts.group[row.name])));
    const text = row.name < 0 ? "all" : data.short(row.name);
    name.append(make("span", text, { className: model.found?.[row.name] ? "hit" : "", title: row.name < 0 ? "" : data.full(row.name).slice(0, 2000) }));
    const cells = [format.value(total), format.share(total, model.whole), format.value(self), row.up ? format.share(row.total, row.up.total) : ""];
    line.append(...cells.map((cell) => make("td", cell)), name);
    return line;
  }

  key(event) {
    const line = event.target.closest("tr");
    const row = this.rows[line?.dataset.row];
    if (!row) return;
    const go = (other) => other?.focus();
    const acts = {
      ArrowDown: () => go(line.nextElementSibling),
      ArrowUp: () => go(line.previousElementSibling),
      ArrowRight: () => (row.isOpen || row.more ? go(line.nextElementSibling) : (this.toggle(row), this.draw())),
      ArrowLeft: () => {
        if (row.isOpen) return this.toggle(row), this.draw();
        go(element("tree-rows").rows[this.rows.indexOf(row.up ?? row.parent)]);
      },
      Enter: () => line.click(),
    };
    if (!Object.hasOwn(acts, event.key)) return;
    event.preventDefault();
    acts[event.key]();
  }
}
