// The tab of hot sequences: the heaviest path as bars, and the call sequences that recur.

import { element, fill, make } from "./dom.js";
import { TooLarge, hot } from "./sequences.js";

const SEQUENCES_AT_ONCE = 20;
const CALLERS_NAMED = 3;
/** Longer paths are cut, as recursion can take thousands of steps. */
const LONGEST_PATH = 60;
/** Longer sequences are drawn without their middle. */
const LONGEST = 9;

export class HotView {
  constructor(model, picture, act) {
    this.model = model;
    this.picture = picture;
    this.act = act;
  }

  /** Searches the stacks that are shown. A search of many goes on while the reader does something else, which may be another search. */
  show() {
    const { model } = this;
    const box = element("hot");
    const search = hot(model.paths, model.values, model.metric.zero, model.flat.shown);
    this.search = search;
    const advance = () => {
      if (this.search !== search) return;
      try {
        const { done, value } = search.next();
        if (done) return this.fill(box, value);
      } catch (error) {
        if (!(error instanceof TooLarge)) throw error;
        return fill(box, make("p", `There are too many stacks to search here. Filter them, or run: ${model.commandOf("hot")}`));
      }
      setTimeout(advance);
    };
    // What stood there before is of other stacks.
    fill(box, make("p", "Searching …", { className: "busy" }));
    advance();
  }

  fill(box, { path, sequences }) {
    const isOld = this.model.state.side === "old";
    const side = (value) => this.model.side(value, isOld);
    fill(box, this.path(path, side), this.sequences(sequences, side));
  }

  /** A function as a button in the colour of its group. */
  chip(id, key) {
    const { model, picture } = this;
    if (id < 0) return make("span", "(root)", { className: "step" });
    const [name] = model.data.label(id);
    const made = make("button", name, { type: "button", className: "step", title: `${model.data.full(id).slice(0, 2000)}\nClick: select. Double click: callers and callees.` });
    made.style.background = picture.theme.group(model.data.facts.group[id]);
    made.style.color = picture.theme.fixed.ink;
    made.dataset.key = key;
    made.addEventListener("click", () => this.act.pin(id));
    made.addEventListener("dblclick", () => this.act.callers(id));
    return made;
  }

  path(steps, side) {
    const { format, flat } = this.model;
    const part = make("section", "", { className: "hot-path" });
    part.append(make("h2", "Heaviest path"), make("p", "Each step has at least half of the one above. Dark: its own self."));
    const whole = Number(flat.shown) || 1;
    for (const [index, { id, total, self }] of steps.slice(0, LONGEST_PATH).entries()) {
      const row = make("div", "", { className: "path-row" });
      const bar = make("span", "", { className: "share" });
      const [wide, dark] = [make("span", "", { className: "total" }), make("span", "", { className: "self" })];
      wide.style.width = `${(100 * Math.abs(Number(side(total)))) / whole}%`;
      dark.style.width = `${(100 * Math.abs(Number(side(self)))) / whole}%`;
      bar.append(wide, dark);
      const own = self != 0 ? [make("span", `${format.share(side(self), flat.shown)} self`, { className: "share-text" })] : [];
      row.append(make("span", format.share(side(total), flat.shown), { className: "percent" }), bar, this.chip(id, `path ${index}`), ...own);
      part.append(row);
    }
    if (steps.length > LONGEST_PATH) part.append(make("p", `… ${steps.length - LONGEST_PATH} more steps`));
    if (!steps.length) part.append(make("p", "No stacks are shown."));
    return part;
  }

  sequences(all, side) {
    const { format, flat } = this.model;
    const part = make("section", "", { className: "hot-sequences" });
    part.append(make("h2", "Sequences that recur"), make("p", "The same calls in a row, reached from several places: one improvement pays in all of them."));
    for (const [index, { ids, total, self, contexts, callers }] of all.slice(0, SEQUENCES_AT_ONCE).entries()) {
      const row = make("div", "", { className: "sequence" });
      row.append(make("span", format.share(side(total), flat.shown), { className: "percent", title: `total ${format.value(side(total))}, self ${format.value(side(self))}` }));
      const steps = make("div", "", { className: "steps" });
      const left = ids.length > LONGEST ? [...ids.slice(0, 4), null, ...ids.slice(-4)] : ids;
      left.forEach((id, at) => {
        if (at) steps.append(make("span", "→", { className: "word" }));
        steps.append(id === null ? make("span", `… ${ids.length - 8} more …`, { className: "word" }) : this.chip(id, `sequence ${index} ${at}`));
      });
      row.append(steps, this.callers(callers, contexts, total));
      part.append(row);
    }
    const rest = all.length - SEQUENCES_AT_ONCE;
    if (rest > 0) part.append(make("p", `… ${rest} more: ${this.model.commandOf("hot")} -n 0`));
    if (!all.length) part.append(make("p", "No sequence recurs in several places."));
    return part;
  }

  /** Who calls a sequence, as a bar and in words. */
  callers(callers, contexts, total) {
    const { data, format } = this.model;
    const line = make("div", "", { className: "from" });
    const bar = make("span", "", { className: "split" });
    for (const { value } of callers.slice(0, 4)) {
      const piece = make("span");
      piece.style.width = `${(100 * Math.abs(Number(value))) / (Math.abs(Number(total)) || 1)}%`;
      bar.append(piece);
    }
    const named = callers.slice(0, CALLERS_NAMED).map(({ id, value }) => `${format.share(value, total)} ${id < 0 ? "(root)" : data.label(id)[0]}`);
    const rest = callers.length - CALLERS_NAMED;
    line.append(bar, make("span", `${contexts} places: ${named.join(" · ")}${rest > 0 ? ` · ${rest} more` : ""}`, { className: "word" }));
    return line;
  }
}
