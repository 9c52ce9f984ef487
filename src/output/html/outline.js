// What the graph shows, for screen readers: a tree of the drawn blocks, which is not seen.

import { element, make } from "./dom.js";
import { idsOf } from "./picture.js";

/** More than this is not listened to. */
const MOST_ITEMS = 2000;
/** So long after the last change, in milliseconds. */
const PAUSE = 300;

/** Writes the outline when the browser has nothing else to do. */
export class Outline {
  constructor(graph, picture) {
    this.graph = graph;
    this.picture = picture;
    this.waiting = 0;
  }

  later() {
    // Not all browsers tell when they are idle.
    const idle = globalThis.requestIdleCallback ?? setTimeout;
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => idle(() => this.show()), PAUSE);
  }

  show() {
    const { graph } = this;
    const blocks = graph.rows.flat();
    const width = (block) => graph.place(block)[1];
    // The widest blocks, if there are too many, in the order of calls.
    const shown = blocks.length <= MOST_ITEMS ? blocks : blocks.sort((a, b) => width(b) - width(a)).slice(0, MOST_ITEMS);
    shown.sort((a, b) => Number(Boolean(a.layer.isUp)) - Number(Boolean(b.layer.isUp)) || a.node - b.node);
    element("outline").replaceChildren(...shown.map((block) => this.item(block)));
  }

  item(block) {
    const { picture } = this;
    const { tree } = block.layer;
    const ids = idsOf(block);
    const name = ids.length > 1 ? picture.runLabel(ids).texts[0] : picture.describe(block)[0];
    const item = make("li", [name, ...(ids[0] < 0 ? [] : picture.lines(block))].join(", "));
    item.setAttribute("role", "treeitem");
    item.setAttribute("aria-level", String(tree.row[block.node] + 1));
    return item;
  }
}
