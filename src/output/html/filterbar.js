// Filters: the sentence that says which are active, the field that adds one, and the shares of threads and labels.

import { button, element, fill, make } from "./dom.js";
import { visible } from "./format.js";
import { LABEL_KINDS, labelText, parseLabel } from "./labels.js";
import { KINDS, TIME_KINDS } from "./paths.js";
import { exactPattern } from "./pattern.js";

const FACETS_SHOWN = 3;
const VALUES_SHOWN = 4;
const SUGGESTIONS = 9;

/** What each kind of filter does, in the order in which they are offered. */
const MEANINGS = {
  "show-stacks": "keep the stacks through a function",
  "hide-stacks": "drop the stacks through a function",
  "hide-frames": "their self moves to the caller",
  "show-frames": "remove all other frames",
  "show-from": "stacks start at a function",
  "prune-from": "stacks end at a function",
  focus: "callers above, callees below",
  highlight: "mark a function",
  label: "key=value, key=~regex, or key",
  "hide-label": "drop samples with a label",
  thread: "keep the threads that match",
  from: "samples taken at a time or later, such as 1.5s",
  to: "samples taken before a time",
};

/** What is typed to add a filter: `show stacks`. */
const verbOf = (kind) => KINDS[kind].toLowerCase();

/** A filter in words. */
export function words({ kind, text }) {
  const name = visible(text);
  if (kind === "label" || kind === "hide-label") {
    const { key, value, pattern } = parseLabel(text);
    const what = pattern !== undefined ? `${key} matches ${pattern}` : value === null ? key : `${key} = ${value}`;
    return visible(kind === "label" ? what : value === null ? `no ${what}` : `not ${what}`);
  }
  return kind === "thread" ? `thread matches ${name}` : `${verbOf(kind)} ${name}`;
}

export class FilterBar {
  /** `act` adds and removes filters, and copies texts. */
  constructor(model, act) {
    this.model = model;
    this.act = act;
    this.options = [];
    this.active = 0;
    const { data } = model;
    this.kinds = Object.keys(MEANINGS).filter((kind) => (Object.hasOwn(TIME_KINDS, kind) ? data.times : data.facets.length || !Object.hasOwn(LABEL_KINDS, kind)));
    this.listen();
  }

  // The sentence

  showSentence() {
    const { model, act } = this;
    const { state, format, flat, whole, isFiltered, lit, litValue } = model;
    const bar = element("filters");
    bar.hidden = state.filters.length === 0;
    if (bar.hidden) return fill(bar);
    const parts = state.filters.map((filter) => {
      const text = words(filter);
      const chip = button(`${text} ×`, () => act.remove(filter), { className: "chip", title: `Remove the filter: ${text}` });
      chip.dataset.key = `${filter.kind} ${filter.text}`;
      return chip;
    });
    parts.unshift(make("span", "Filters"));
    if (isFiltered) parts.push(make("span", `shown ${this.model.data.calls ? "about " : ""}${format.value(flat.shown)}, ${format.share(flat.shown, whole)} of all`));
    if (lit) parts.push(make("span", `highlighted ${format.value(litValue)}, ${format.share(litValue, flat.shown)}`));
    parts.push(button("Remove all", () => act.removeAll(), { title: "Remove all filters" }));
    const command = make("code", model.command, { className: "command", title: "The command that shows the same numbers" });
    parts.push(command, button("Copy command", () => act.copy(model.command)));
    fill(bar, ...parts);
  }

  // Threads and labels

  showFacets() {
    const { facets } = this.model;
    const box = element("facets");
    const chosen = facets.filter((facet) => facet.isUseful || this.shown(facet).some(({ value }) => this.filterFor(facet.key, value)));
    box.hidden = chosen.length === 0;
    if (box.hidden) return fill(box);
    const shown = chosen.slice(0, FACETS_SHOWN);
    const groups = shown.map((facet) => {
      const group = make("span", "", { className: "facet" });
      group.append(make("span", visible(facet.key), { className: "word" }), ...this.shown(facet).map((value) => this.value(facet.key, value)));
      const rest = facet.values.length - VALUES_SHOWN;
      if (rest > 0) group.append(button(`… ${rest} more`, () => this.openList(facet.key)));
      return group;
    });
    // A label that all samples have with one value is no choice.
    const more = facets.filter((facet) => facet.values.length > 1 && !shown.includes(facet));
    if (more.length) groups.push(button(`${more.length} more label${more.length === 1 ? "" : "s"} …`, () => this.openList(more[0].key)));
    fill(box, ...groups);
  }

  /** The heaviest values, and those that are chosen. */
  shown(facet) {
    return facet.values.filter((value, index) => index < VALUES_SHOWN || this.filterFor(facet.key, value.value));
  }

  /** The active filter that chooses or hides a value. */
  filterFor(key, value) {
    const { filters } = this.model.state;
    if (value === null) return filters.find(({ kind, text }) => kind === "hide-label" && text === key);
    return filters.find(({ kind, text }) => (kind === "label" || kind === "hide-label") && text === labelText(key, value));
  }

  /** A value as a button with its share and a bar under it. */
  value(key, { value, sum }) {
    const { model, act } = this;
    const { format, whole } = model;
    const share = format.share(model.side(sum, model.state.side === "old"), whole);
    const active = this.filterFor(key, value);
    const toggle = (event) => {
      if (active) return act.remove(active);
      if (value === null) return act.add(event.shiftKey ? "label" : "hide-label", key);
      act.add(event.shiftKey ? "hide-label" : "label", labelText(key, value));
    };
    const text = value === null ? `no ${visible(key)}` : visible(value);
    const made = button("", toggle, { className: "value-choice", title: `${text} ${share}\nClick: only these samples. Shift + click: without them.` });
    made.append(make("span", text, { className: "value-name" }), make("span", share, { className: "share-text" }));
    made.style.setProperty("--part", `${Math.min(100, (100 * Math.abs(Number(sum))) / (Math.abs(Number(whole)) || 1))}%`);
    made.setAttribute("aria-pressed", String(Boolean(active)));
    made.dataset.key = `value ${key} ${value}`;
    return made;
  }

  /** All values of all labels, with a search. */
  openList(key) {
    const dialog = element("labels");
    const search = make("input", "", { type: "search", placeholder: "Find a label or value", ariaLabel: "Find a label or value" });
    const list = make("div", "", { className: "label-list" });
    const show = () => {
      const query = search.value.toLowerCase();
      const groups = this.model.facets.map((facet) => {
        const fits = ({ value }) => `${facet.key} ${value ?? "no"}`.toLowerCase().includes(query);
        const values = facet.values.filter(fits).map((value) => this.value(facet.key, value));
        if (!values.length) return null;
        const group = make("div", "", { className: "facet" });
        group.append(make("h3", visible(facet.key)), ...values);
        group.dataset.facet = facet.key;
        return group;
      });
      fill(list, ...groups.filter(Boolean));
    };
    this.refreshList = show;
    search.addEventListener("input", show);
    const leftOut = this.model.data.left_out.map(visible).join(", ");
    const note = leftOut ? [make("p", `Too many values for a page; use --label on the command line: ${leftOut}`)] : [];
    dialog.replaceChildren(make("h2", "Threads and labels"), search, list, ...note, button("Close", () => dialog.close()));
    show();
    dialog.showModal();
    [...list.children].find((group) => group.dataset.facet === key)?.scrollIntoView();
  }

  // The field that adds a filter

  listen() {
    const field = element("add-filter");
    const list = element("suggestions");
    field.addEventListener("input", () => this.suggest());
    field.addEventListener("focus", () => this.suggest());
    field.addEventListener("blur", () => setTimeout(() => this.close(), 150));
    field.addEventListener("keydown", (event) => this.key(event));
    list.addEventListener("pointerdown", (event) => {
      const row = event.target.closest("[data-index]");
      if (!row) return;
      event.preventDefault();
      this.choose(Number(row.dataset.index));
    });
  }

  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && this.options.length) {
      this.active = (this.active + step + this.options.length) % this.options.length;
      this.draw();
    } else if (event.key === "Enter" || (event.key === "Tab" && event.target.value && this.options[this.active]?.isVerb)) this.choose(this.active);
    else if (event.key === "Escape") {
      element("add-filter").value = "";
      this.close();
      element("canvas").focus({ preventScroll: true });
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** The verb at the start of a text, and the rest. */
  parse(text) {
    const kind = this.kinds.find((kind) => text.startsWith(`${verbOf(kind)} `));
    return kind ? { kind, rest: text.slice(verbOf(kind).length).trim() } : { kind: null, rest: text.trim() };
  }

  suggest() {
    const { kind, rest } = this.parse(element("add-filter").value.trimStart());
    const isLabel = kind === "label" || kind === "hide-label";
    const isTime = Object.hasOwn(TIME_KINDS, kind ?? "");
    const options = [];
    if (kind === null) {
      for (const kind of this.kinds) if (verbOf(kind).startsWith(rest)) options.push({ text: verbOf(kind), what: MEANINGS[kind], isVerb: true });
      if (rest) options.push(...this.values(rest, "label").slice(0, 4), ...this.names(rest, "show-stacks"));
    } else if (isLabel) options.push(...this.values(rest, kind));
    else if (isTime) options.push(...(rest ? [{ text: rest, what: "since the start", filter: { kind, text: rest, exact: false } }] : []));
    else if (kind === "thread") options.push(...this.threads(rest));
    else options.push(...this.names(rest, kind));
    if (rest && !isLabel && !isTime) options.push({ text: rest, what: kind === "thread" ? "threads that match" : "as a pattern", filter: { kind: kind ?? "show-stacks", text: rest, exact: false } });
    this.options = options.slice(0, kind === null && !rest ? this.kinds.length : SUGGESTIONS);
    this.active = 0;
    this.draw();
  }

  /** The functions that contain a text, the heaviest first. */
  names(rest, kind) {
    const { model } = this;
    const { data, flat, format } = model;
    const fits = /\p{Lu}/u.test(rest) ? (name) => name.includes(rest) : (name) => name.toLowerCase().includes(rest);
    const ids = Array.from(Array(data.count).keys()).filter((id) => flat.total[id] != 0 && fits(data.name(id)));
    ids.sort((a, b) => Math.abs(Number(flat.total[b])) - Math.abs(Number(flat.total[a])) || a - b);
    return ids.slice(0, SUGGESTIONS).map((id) => ({ text: data.short(id), before: verbOf(kind), what: format.share(flat.total[id], flat.shown), filter: { kind, text: data.name(id), exact: true } }));
  }

  values(rest, kind) {
    const { model } = this;
    const all = model.facets.flatMap(({ key, values }) => values.filter(({ value }) => value !== null).map(({ value, sum }) => ({ text: labelText(key, value), sum })));
    const found = all.filter(({ text }) => text.toLowerCase().includes(rest.toLowerCase()));
    const options = found.map(({ text, sum }) => ({ text, what: model.format.share(sum, model.whole), filter: { kind, text, exact: false } }));
    return rest && !found.some(({ text }) => text === rest) && (rest.includes("=~") || model.data.facets.some(({ key }) => key === rest)) ? [{ text: rest, what: "as typed", filter: { kind, text: rest, exact: false } }, ...options] : options;
  }

  threads(rest) {
    const found = this.values("", "label").filter(({ text }) => /^(thread|tid|process)=/.test(text));
    const named = found.map(({ text, what }) => ({ text: text.slice(text.indexOf("=") + 1), what }));
    return named.filter(({ text }) => text.toLowerCase().includes(rest.toLowerCase())).map((option) => ({ ...option, filter: { kind: "thread", text: exactPattern(option.text), exact: false } }));
  }

  choose(index) {
    const option = this.options[index];
    const field = element("add-filter");
    if (!option) return;
    if (option.isVerb) {
      field.value = `${option.text} `;
      return this.suggest();
    }
    field.value = "";
    this.close();
    const { kind, text, exact } = option.filter;
    this.act.add(kind, text, exact);
  }

  close() {
    this.options = [];
    this.draw();
  }

  draw() {
    const [field, list] = [element("add-filter"), element("suggestions")];
    const rows = this.options.map(({ text, before, what }, index) => {
      const row = make("div", "", { id: `suggestion-${index}`, className: "suggestion" });
      row.setAttribute("role", "option");
      row.setAttribute("aria-selected", String(index === this.active));
      row.dataset.index = index;
      if (before) row.append(make("span", `${before} `, { className: "word" }));
      row.append(make("span", visible(text).slice(0, 300), { className: "value-name" }), make("span", what, { className: "share-text" }));
      return row;
    });
    list.replaceChildren(...rows);
    list.hidden = rows.length === 0;
    field.setAttribute("aria-expanded", String(rows.length > 0));
    if (rows.length) field.setAttribute("aria-activedescendant", `suggestion-${this.active}`);
    else field.removeAttribute("aria-activedescendant");
  }
}
