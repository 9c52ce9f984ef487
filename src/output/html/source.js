// The tab of source lines, for functions whose source was found when the page was written.

import { element, fill, make } from "./dom.js";
import { visible } from "./format.js";

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
    const { data, format } = model;
    const box = element("source");
    if (!this.sources.length) return;
    const size = (id) => Math.abs(Number(model.flat.self[id]));
    const heaviest = this.sources.reduce((best, { id }) => (size(id) > size(best) ? id : best), this.sources[0].id);
    const chosen = this.has(model.state.pin) ? model.state.pin : heaviest;
    const choice = make("select", "", { ariaLabel: "Function" });
    choice.dataset.key = "function";
    for (const id of new Set(this.sources.map((source) => source.id))) choice.append(make("option", data.short[id].slice(0, 200), { value: id, selected: id === chosen }));
    choice.addEventListener("change", () => this.act.pin(Number(choice.value)));
    const whole = BigInt(data.metrics[data.metric].total);
    const notes = [];
    if (model.state.pin >= 0 && !this.has(model.state.pin)) notes.push(`The page has no source of ${data.short[model.state.pin]}.`);
    if (model.isFiltered || model.state.metric !== data.metric || model.state.side === "old") notes.push(`These lines count all of ${data.metrics[data.metric].name}, without filters.`);
    const parts = this.sources.filter((source) => source.id === chosen).map((source) => this.table(source, whole, format));
    const label = make("label", "Source of ");
    label.append(choice);
    fill(box, label, ...notes.map((note) => make("p", note, { className: "narrowed" })), ...parts);
  }

  table({ file, lines }, whole, format) {
    const table = make("table", "", { className: "lines" });
    table.append(make("caption", file));
    const head = make("tr");
    for (const name of ["Self", "Total", "%", "Line", "Source"]) head.append(make("th", name, { scope: "col" }));
    table.append(head);
    const most = lines.reduce((most, [, , total]) => (Math.abs(Number(total)) > most ? Math.abs(Number(total)) : most), 0);
    for (const [number, self, total, text] of lines) {
      const row = make("tr");
      const value = (text) => (text === "0" ? "" : format.value(Number(text)));
      const strength = Math.abs(Number(total)) / (most || 1);
      if (strength >= NOTABLE_LINE) row.style.setProperty("--heat", `${Math.round(strength * 60)}%`);
      const share = total === "0" ? "" : format.share(Number(total), Number(whole));
      row.append(make("td", value(self)), make("td", value(total)), make("td", share), make("td", number || "?", { className: "number" }), make("td", text === null ? "(no source)" : visible(text.replaceAll("\t", "    ")) === '""' ? "" : text.replaceAll("\t", "    "), { className: "code" }));
      table.append(row);
    }
    return table;
  }
}
