// Filters by labels and threads, and the shares of the values of each label.

import { textMatcher, whyUnsupported } from "./pattern.js";

export const LABEL_KINDS = { label: "Label", "hide-label": "Hide label", thread: "Thread" };

/** Labels that name the thread or the process of a sample. */
const THREAD_KEYS = ["thread", "tid", "process"];

/** The key of a label filter, and a test of values: `K`, `K=V`, `K=~RE`. */
export function parseLabel(text) {
  const at = text.indexOf("=");
  if (at < 0) return { key: text, value: null };
  const [key, value] = [text.slice(0, at), text.slice(at + 1)];
  return value.startsWith("~") ? { key, value, pattern: value.slice(1) } : { key, value };
}

/** The filter for one value of a label. */
export const labelText = (key, value) => (value.startsWith("~") ? `${key}=~^${value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$` : `${key}=${value}`);

/** Why the page cannot evaluate a label filter, or an empty text if it can. */
export function whyUnknownLabel(data, text) {
  const { key, value, pattern } = parseLabel(text);
  const facet = data.facets.find((facet) => facet.key === key);
  if (!facet) return data.left_out.includes(key) ? `the page has no values of ${key}, of which there are too many` : `no sample has the label ${key}`;
  if (pattern === undefined && value !== null && !facet.values.includes(value)) {
    return value.includes(":") ? "ranges work only on the command line" : `no sample has ${text}`;
  }
  return "";
}

/** Why the page cannot find the threads that match, or an empty text if it can, or if there are none. */
export function whyUnknownThread(data, pattern) {
  const why = whyUnsupported(pattern);
  const leftOut = data.left_out.find((key) => THREAD_KEYS.includes(key));
  if (why || !leftOut || matchingThreads(data, pattern).includes(true)) return why;
  return `the page has no values of ${leftOut}, of which there are too many`;
}

/**
 * For each value of a facet, whether a filter wants it.
 * @param {any} facet
 * @param {{ value: string | null, pattern?: string }} filter
 */
function wantedValues(facet, { value, pattern }) {
  if (pattern !== undefined) return textMatcher(pattern)(facet.values);
  return facet.values.map((other) => value === null || other === value);
}

/** For each set of labels, whether a filter matches it. */
function matchingSets(data, text) {
  const filter = parseLabel(text);
  const number = data.facets.findIndex((facet) => facet.key === filter.key);
  if (number < 0) return data.label_sets.map(() => false);
  const values = wantedValues(data.facets[number], filter);
  return data.label_sets.map((set) => set.some(([facet, value]) => facet === number && values[value]));
}

/** For each set of labels, whether one of its threads matches. */
function matchingThreads(data, pattern) {
  const matches = data.facets.map((facet) => (THREAD_KEYS.includes(facet.key) ? textMatcher(pattern)(facet.values) : facet.values.map(() => false)));
  return data.label_sets.map((set) => set.some(([facet, value]) => matches[facet][value]));
}

/**
 * For each set of labels, whether its samples are kept. For every key, one of the filters with that key has to match, and
 * none of those that hide. Filters with the key `without` are left out.
 */
export function keptSets(data, filters, without = null) {
  const of = (kind) => filters.filter((filter) => filter.kind === kind && parseLabel(filter.text).key !== without);
  const kept = data.label_sets.map(() => true);
  const wanted = of("label").map((filter) => ({ key: parseLabel(filter.text).key, sets: matchingSets(data, filter.text) }));
  for (const key of new Set(wanted.map((filter) => filter.key))) {
    const ofKey = wanted.filter((filter) => filter.key === key);
    kept.forEach((_, set) => (kept[set] &&= ofKey.some((filter) => filter.sets[set])));
  }
  for (const filter of of("hide-label")) {
    const hidden = matchingSets(data, filter.text);
    kept.forEach((_, set) => (kept[set] &&= !hidden[set]));
  }
  const threads = filters.filter((filter) => filter.kind === "thread").map((filter) => matchingThreads(data, filter.text));
  if (threads.length) kept.forEach((_, set) => (kept[set] &&= threads.some((is) => is[set])));
  return kept;
}

/** Whether filters drop samples by their labels. */
export const hasLabelFilter = (filters) => filters.some((filter) => Object.hasOwn(LABEL_KINDS, filter.kind));

/**
 * The values of each label with their sums, the heaviest first; `null` stands for samples without the label. Filters for
 * the label itself do not count, so that its other values can be chosen. `sums` holds a sum for each set of labels.
 */
export function facetShares(data, filters, sums, zero) {
  const shares = data.facets.map((facet, number) => {
    const kept = keptSets(data, filters, facet.key);
    const bySet = new Array(facet.values.length).fill(zero);
    let none = zero;
    data.label_sets.forEach((set, index) => {
      if (!kept[index]) return;
      const own = set.filter(([other]) => other === number);
      for (const [, value] of own) bySet[value] += sums[index];
      if (!own.length) none += sums[index];
    });
    // Values of samples without this metric, or that other filters drop, cannot be chosen.
    const chosen = (value) => filters.some(({ text }) => text === labelText(facet.key, value));
    const values = facet.values.map((value, index) => ({ value, sum: bySet[index] })).filter(({ value, sum }) => sum != 0 || chosen(value));
    if (none != 0) values.push({ value: null, sum: none });
    values.sort((a, b) => (a.sum < b.sum ? 1 : a.sum > b.sum ? -1 : 0));
    return { key: facet.key, values };
  });
  return byUse(shares);
}

/** Labels that divide the samples are useful and come first; one that divides them as another does, such as the ID of a thread, is not. */
function byUse(shares) {
  const sums = ({ values }) => values.map(({ sum }) => String(sum)).join();
  const known = new Set();
  // The name of a thread says more than its ID.
  const order = (facet) => ["tid", "process"].indexOf(facet.key);
  for (const facet of [...shares].sort((a, b) => order(a) - order(b))) {
    facet.isUseful = facet.values.length > 1 && !known.has(sums(facet));
    known.add(sums(facet));
  }
  return shares.filter(({ values }) => values.length).sort((a, b) => b.isUseful - a.isUseful);
}
