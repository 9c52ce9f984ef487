// The state of the page, and the fragment of the address that stores it. A link holds names, not numbers, so that it
// works on the page of another recording.

import { LABEL_KINDS } from "./labels.js";
import { KINDS, TIME_KINDS } from "./paths.js";

/** Settings that are words, and settings that are switches. */
const WORDS = ["side", "query", "sort", "color", "tab", "normalize"];
const SWITCHES = ["reversed", "weight", "icicle", "inverted", "panes", "fold"];

/** The state in which the page opens. */
export function initialState(data) {
  return {
    metric: data.metric,
    side: "new",
    filters: [
      ...data.focus.map((text) => ({ kind: "focus", text, exact: false })),
      ...(data.highlight ? [{ kind: "highlight", text: data.highlight, exact: false }] : []),
    ],
    query: "",
    // A comparison begins with what changed beyond noise.
    sort: data.tested.length ? "verdict" : "self",
    reversed: false,
    /** The ids of the names from the root to the block that fills the width. */
    zoom: [],
    zoomUp: false,
    /** The name that the inspector describes, or -1. */
    pin: -1,
    weight: data.weight,
    icicle: data.icicle,
    inverted: data.inverted,
    /** Whether runs of library calls are one row each. */
    fold: true,
    // Changes have a tab of their own.
    color: data.color_by === "delta" ? "package" : data.color_by,
    tab: data.color_by === "delta" ? "compare" : "graph",
    /** Whether the comparison shows both sides next to each other. */
    panes: false,
    normalize: data.ratios[0]?.[0] ?? "none",
  };
}

/** The tabs that a profile has. Sequences need stacks, and source lines were looked for when the page was written. */
export function tabsOf(data) {
  return ["graph", ...(data.calls ? [] : ["hot"]), "tree", ...(data.compared ? ["compare"] : []), ...(data.sources.length ? ["source"] : []), ...(data.times ? ["timeline"] : [])];
}

/** The words that a setting may have; any text is a query. The third side of older versions is now a colour. */
const allowed = (data) => ({
  side: data.compared ? ["new", "old", "delta"] : ["new", "delta"],
  sort: ["self", "total", "name", ...(data.compared ? ["old", "delta", "verdict"] : [])],
  color: ["package", "file", "self", "total", "delta"],
  tab: tabsOf(data),
  normalize: data.ratios.map(([method]) => method),
});

/** Whether filters of a kind may be for one name. Labels, threads and times are not names on stacks. */
const isOfNames = (kind) => !Object.hasOwn(LABEL_KINDS, kind) && !Object.hasOwn(TIME_KINDS, kind);

/** The state as a fragment, without the settings that have their initial value. */
export function toFragment(state, data) {
  const usual = initialState(data);
  const words = new URLSearchParams();
  if (state.metric !== usual.metric) words.append("metric", data.metrics[state.metric].name);
  for (const key of WORDS) if (state[key] !== usual[key]) words.append(key, state[key]);
  for (const key of SWITCHES) if (state[key] !== usual[key]) words.append(key, state[key] ? "1" : "0");
  const filters = (list) => list.map((filter) => [filter.exact ? filter.kind : `${filter.kind}~`, filter.text]);
  if (String(filters(state.filters)) !== String(filters(usual.filters))) {
    if (!state.filters.length) words.append("filters", "none");
    for (const [key, text] of filters(state.filters)) words.append(key, text);
  }
  for (const id of state.zoom) words.append(state.zoomUp ? "zoom-up" : "zoom", data.name(id));
  if (state.pin >= 0) words.append("pin", data.name(state.pin));
  return words.toString();
}

/** Reads a fragment. Names and settings that the page does not have are left out and returned in `missing`. */
export function fromFragment(fragment, data) {
  const [state, usual] = [initialState(data), initialState(data)];
  const missing = [];
  const words = [...new URLSearchParams(fragment)];
  const settings = allowed(data);
  const isFilter = (/** @type {string[]} */ [key]) => key === "filters" || Object.hasOwn(KINDS, key.replace(/~$/, ""));
  if (words.some(isFilter)) state.filters = [];
  const id = (name) => {
    const found = data.idOf(name);
    if (found < 0) missing.push(name);
    return found;
  };
  let isBroken = false;
  for (const [key, value] of words) {
    const kind = key.replace(/~$/, "");
    if (Object.hasOwn(KINDS, kind)) state.filters.push({ kind, text: value, exact: kind === key && isOfNames(kind) });
    else if (key === "metric") {
      const found = data.metrics.findIndex((metric) => metric.name === value);
      if (found < 0) missing.push(value);
      else state.metric = found;
    }
    else if (key === "zoom" || key === "zoom-up") {
      const found = isBroken ? -1 : id(value);
      isBroken ||= found < 0;
      if (!isBroken) state.zoom.push(found);
      state.zoomUp = key === "zoom-up";
    } else if (key === "pin") state.pin = id(value);
    else if (SWITCHES.includes(key)) state[key] = value === "1";
    else if (settings[key]?.includes(value) === false) missing.push(value);
    else if (WORDS.includes(key)) state[key] = value;
  }
  // Links to pages of older versions have a third side, "delta", which is now a colour.
  if (state.side === "delta" || state.color === "delta") Object.assign(state, { side: "new", color: "package", tab: "compare" });
  if (!data.compared) state.side = "new";
  if (!tabsOf(data).includes(state.tab)) state.tab = usual.tab;
  return { state, missing };
}

/** Whether two states differ in more than what is typed or sorted, so that Back should return to the first. */
export function isStep(before, after) {
  const deed = (state) => JSON.stringify([state.filters, state.zoom, state.zoomUp, state.tab, state.inverted, state.metric, state.side, state.panes, state.normalize]);
  return deed(before) !== deed(after);
}
