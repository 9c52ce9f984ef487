// The tab Timeline: how busy each thread was, the calls of one thread in the order of time, and a range of time that all
// tabs count. Everything is drawn per column of pixels, so that it takes the same time for a million samples, and what a
// range lies on is kept while it is dragged.

import { callBlocks } from "./blocks.js";
import { button, element, fill, make } from "./dom.js";
import { FAINTEST_LABEL, fitLabel, font, letterSpacing } from "./label.js";
import { Pixels } from "./pixels.js";
import { writeTime } from "./times.js";

const AXIS = 22;
const LANE = 30;
const GAP = 10;
const CALL_ROW = 18;
/** Threads beyond these are drawn only after a click. */
const LANES_SHOWN = 12;
/** The distance between the dots of what is idle. */
const DOT_GAP = 6;
const EDGE_REACH = 7;
const TOUCH_REACH = 18;
/** A range narrower than this many pixels was meant as a click. */
const LEAST_DRAG = 4;

export class TimelineView {
  /** `act` sets the range and selects functions. */
  constructor(model, picture, theme, act) {
    this.model = model;
    this.picture = picture;
    this.theme = theme;
    this.act = act;
    this.times = model.data.times;
    /** The steps at the left and the right edge. */
    this.view = [0, this.times.steps];
    /** The thread whose calls are drawn, and all threads with values. */
    this.lane = 0;
    this.busy = [0];
    this.showsAll = false;
    this.canvas = element("timeline-canvas");
    this.scroller = element("timeline-graph");
    this.context = this.canvas.getContext("2d");
    /** What is drawn apart from the axis and the range, which move over it. */
    this.still = document.createElement("canvas").getContext("2d");
    /** What is dragged: the end of the range that stays, or null. */
    this.drag = null;
    this.pointers = new Map();
    this.listen();
  }

  /** The range of all tabs, while it is dragged the one that it will be. */
  get range() {
    return this.pending ?? this.times.range(this.model.state.filters);
  }

  /** The rows of threads that are drawn, as numbers. Threads without values of the metric are not. */
  get lanes() {
    return this.showsAll ? this.busy : this.busy.slice(0, LANES_SHOWN);
  }

  /** Where the calls begin. */
  get callsTop() {
    return AXIS + this.lanes.length * LANE + GAP + CALL_ROW;
  }

  /** Shows the state of the page. */
  show() {
    const { model } = this;
    model.once("activity", [model.untimed, model.state.metric], () => this.count());
    this.showControls();
    this.later();
  }

  count() {
    const { model, times } = this;
    const { metric } = model.state;
    this.activity = times.activity(metric, model.untimed.leaf);
    this.idle = times.idle[metric] && times.activity(metric, model.untimed.leaf, times.idle[metric]);
    this.busy = Array.from(times.rows.keys()).filter((row) => this.between(row, 0, times.steps) > 0);
    if (!this.busy.length) this.busy = [0];
    if (!this.busy.includes(this.lane)) this.lane = this.busy[0];
  }

  showControls() {
    const { range, isWhole } = this;
    const act = (text, title, deed, isOff = false) => {
      const made = button(text, deed, { title, disabled: isOff });
      made.dataset.key = text;
      return made;
    };
    const rest = this.busy.length - LANES_SHOWN;
    fill(
      element("timeline-bar"),
      make("span", this.said(range), { className: "timeline-range" }),
      act("All times", "Remove the range (Escape)", () => this.act.range(null), !range),
      act("Zoom to range", "Enter", () => this.zoomToRange(), !range),
      act("+", "Zoom in", () => this.zoom(0.5)),
      act("\u2212", "Zoom out", () => this.zoom(2), isWhole),
      ...(rest > 0 ? [act(this.showsAll ? `${LANES_SHOWN} heaviest threads` : `\u2026 ${rest} more thread${rest === 1 ? "" : "s"}`, "Rows of threads", () => this.toggleLanes())] : []),
    );
  }

  /** Whether all of the recording is seen. */
  get isWhole() {
    return this.view[0] === 0 && this.view[1] === this.times.steps;
  }

  /** The range in words. */
  said(range) {
    const { times, model } = this;
    if (!range) return "Drag over the graph to count only a range of time";
    const [from, to] = range;
    const text = `${times.text(from)} to ${times.text(to)} (${writeTime((to - from) * times.step)})`;
    // The sentence above has the exact numbers as soon as the range is chosen.
    if (!this.pending) return text;
    const value = this.busy.reduce((sum, row) => sum + this.between(row, from, to), 0);
    return `${text} \u00b7 about ${model.format.share(value, Number(model.metric.total) || 1)}`;
  }

  toggleLanes() {
    this.showsAll = !this.showsAll;
    if (!this.lanes.includes(this.lane)) this.lane = this.lanes[0];
    this.show();
  }

  /** What a row spent between two steps. */
  between(row, from, to) {
    return this.sum(this.activity[row], from, to);
  }

  /** The part of it that was idle. */
  idleBetween(row, from, to) {
    return this.idle ? this.sum(this.idle[row], from, to) : 0;
  }

  sum(before, from, to) {
    const per = this.times.stepsPerBin;
    const at = (step) => {
      const bin = Math.max(0, Math.min(before.length - 1, step / per));
      const whole = Math.floor(bin);
      return before[whole] + (bin > whole ? (before[whole + 1] - before[whole]) * (bin - whole) : 0);
    };
    return at(to) - at(from);
  }

  // Drawing

  /** Schedules one redraw for the next animation frame. */
  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      if (!element("timeline").hidden) this.draw();
    });
  }

  draw() {
    const { canvas, context, scroller } = this;
    const [wide, high] = [scroller.clientWidth, scroller.clientHeight];
    const dense = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(wide * dense) || canvas.height !== Math.round(high * dense)) {
      [canvas.width, canvas.height] = [Math.round(wide * dense), Math.round(high * dense)];
      [canvas.style.width, canvas.style.height] = [`${wide}px`, `${high}px`];
    }
    this.width = wide;
    const { model, theme } = this;
    const top = -scroller.scrollTop;
    const shown = [this.activity, this.view, this.lane, this.lanes.length, top, canvas.width, canvas.height, dense, model.found, model.state.pin, theme.isDark];
    model.once("timeline", shown, () => this.drawStill(top, wide, high, dense));
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.drawImage(this.still.canvas, 0, 0);
    context.setTransform(dense, 0, 0, dense, 0, 0);
    context.textBaseline = "middle";
    this.drawAxis();
    this.drawRange(high);
    const rows = this.deepest ? (this.deepest + 1) * CALL_ROW : CALL_ROW;
    const height = `${this.callsTop + rows}px`;
    const { style } = element("timeline-height");
    if (style.height !== height) style.height = height;
  }

  /** Draws all that does not change while a range is dragged: areas and blocks as pixels, then the texts on them. */
  drawStill(top, wide, high, dense) {
    const { still } = this;
    if (!this.pixels?.has(wide, high, dense)) {
      this.pixels = new Pixels(wide, high, dense);
      [still.canvas.width, still.canvas.height] = [this.canvas.width, this.canvas.height];
    }
    this.pixels.clear();
    this.findCalls();
    this.fillLanes(top);
    this.fillCalls(top);
    still.setTransform(1, 0, 0, 1, 0, 0);
    still.putImageData(this.pixels.image, 0, 0);
    still.setTransform(dense, 0, 0, dense, 0, 0);
    still.textBaseline = "middle";
    this.writeLanes(top);
    this.writeCalls(top);
  }

  x(step) {
    const [from, to] = this.view;
    return ((step - from) / (to - from)) * this.width;
  }
  step(x) {
    const [from, to] = this.view;
    return from + (x / this.width) * (to - from);
  }

  drawAxis() {
    const { context, theme, times } = this;
    const [from, to] = this.view;
    const ns = ((to - from) * times.step) / Math.max(1, this.width / 110);
    const unit = 10 ** Math.floor(Math.log10(Math.max(ns, 1)));
    const by = [1, 2, 5, 10].map((many) => many * unit).find((many) => many >= ns);
    context.fillStyle = theme.fixed.paper;
    context.fillRect(0, 0, this.width, AXIS - 1);
    context.fillStyle = theme.fixed.root;
    context.fillRect(0, AXIS - 1, this.width, 1);
    context.font = font(11, false);
    for (let at = Math.ceil(times.at(from) / by) * by; at <= times.at(to); at += by) {
      const x = this.x((at - times.from) / times.step);
      context.fillStyle = theme.fixed.root;
      context.fillRect(Math.round(x), 0, 1, AXIS);
      context.fillStyle = theme.fixed.faint;
      if (x + 40 < this.width) context.fillText(writeTime(at), x + 4, AXIS / 2);
    }
  }

  /** The columns of activity: as wide as several samples, so that a sampled thread is an area instead of a comb. */
  get columnSteps() {
    const [from, to] = this.view;
    const pixel = (to - from) / this.width;
    const { times, lanes } = this;
    const isSpan = times.lasts[this.model.state.metric] > 0;
    const usual = Math.min(...lanes.slice(0, 4).map((row) => times.period(times.rows[row], this.model.state.metric)));
    return Math.max(pixel, times.stepsPerBin, isSpan ? usual : 3 * usual);
  }

  fillLanes(top) {
    const { theme, times, lanes, model, pixels } = this;
    const [from, to] = this.view;
    const per = this.columnSteps;
    const first = Math.floor(from / per);
    const count = Math.ceil(to / per) - first;
    const values = (between) => lanes.map((row) => Float64Array.from({ length: count }, (_, column) => between(row, (first + column) * per, (first + column + 1) * per)));
    const [columns, idle] = [values((...range) => this.between(...range)), this.idle && values((...range) => this.idleBetween(...range))];
    idle?.forEach((row, at) => row.forEach((value, column) => (columns[at][column] -= value)));
    const nanoseconds = times.lasts[model.state.metric];
    // Where values are times, a full row is one busy CPU; otherwise the largest column.
    const most = columns.reduce((most, column) => column.reduce((a, b) => Math.max(a, b), most), 0);
    const full = Math.max(most, nanoseconds ? (per * times.step) / nanoseconds : 0) || 1;
    const [area, chosen, line] = [pixels.color(theme.rank(0)), pixels.color(theme.fixed.root, 0.5), pixels.color(theme.fixed.root)];
    const dot = pixels.color(theme.fixed.faint);
    // What is left of a sum of fractions is nothing.
    const least = full * 1e-9;
    lanes.forEach((row, at) => {
      const y = top + AXIS + at * LANE;
      if (y + LANE < 0) return;
      if (row === this.lane) pixels.fill(0, y, this.width, y + LANE - 1, chosen);
      let dotted = -DOT_GAP;
      for (let column = 0; column < count; column++) {
        const value = columns[at][column];
        if (value <= least) {
          // What is only idle has no height: a row of dots.
          const middle = this.x((first + column + 0.5) * per);
          if (!(idle?.[at][column] > least) || middle < dotted + DOT_GAP) continue;
          dotted = middle;
          pixels.fill(middle - 1, y + LANE - 6, middle + 1, y + LANE - 4, dot);
          continue;
        }
        const tall = Math.max(1, ((LANE - 4) * value) / full);
        pixels.fill(this.x((first + column) * per), y + LANE - 2 - tall, this.x((first + column + 1) * per), y + LANE - 2, area);
      }
      pixels.fill(0, y + LANE - 1, this.width, y + LANE, line);
    });
    this.fillPauses(top);
  }

  /** Pauses stop all threads: a mark at the lower edge of the axis, and on each row. */
  fillPauses(top) {
    const { theme, times, lanes, pixels } = this;
    const color = pixels.color(theme.fixed.added);
    for (const [from, length] of times.pauses) {
      const [left, right] = [from, from + length].map((ns) => this.x((ns - times.from) / times.step));
      if (right < 0 || left > this.width) continue;
      for (let at = 0; at <= lanes.length; at++) pixels.fill(left, top + AXIS + at * LANE - (at ? 1 : 0), right, top + AXIS + at * LANE + 3, color);
    }
  }

  /** The pause at a step, or undefined. */
  pauseAt(step) {
    const { times } = this;
    const reach = ((this.view[1] - this.view[0]) / this.width) * times.step;
    const at = times.at(step);
    return times.pauses.find(([from, length]) => at >= from - reach && at <= from + length + reach);
  }

  writeLanes(top) {
    const { times, model } = this;
    this.lanes.forEach((row, at) => {
      const y = top + AXIS + at * LANE;
      if (y + LANE < 0) return;
      const share = model.format.share(this.between(row, 0, times.steps), Number(model.metric.total));
      this.writeText(`${times.rows[row].name} ${share}`, 6, y + 10, this.width - 12);
    });
  }

  /** A text that is readable on an area. */
  writeText(text, x, y, room) {
    const { still: context, theme } = this;
    context.font = font(11, false);
    let shown = text;
    while (shown.length > 4 && context.measureText(shown).width > room) shown = `${shown.slice(0, -4)}\u2026`;
    context.lineWidth = 3;
    context.lineJoin = "round";
    context.strokeStyle = theme.fixed.paper;
    context.globalAlpha = 0.85;
    context.strokeText(shown, x, y);
    context.globalAlpha = 1;
    context.fillStyle = theme.fixed.ink;
    context.fillText(shown, x, y);
  }

  /** The calls of one thread in the order of time: in each column those of its heaviest stack. */
  findCalls() {
    const { times, model } = this;
    const row = times.rows[this.lane];
    const [from, to] = this.view;
    const count = Math.max(1, Math.floor(this.width));
    model.once("calls", [row, this.activity, from, to, count], () => {
      const leaves = times.columns(row, model.state.metric, model.untimed.leaf, from, (to - from) / count, count);
      const { calls, common } = callBlocks(leaves, model.untimed.nodes);
      this.calls = calls;
      this.common = common;
      this.deepest = calls.reduce((deepest, call) => Math.max(deepest, call.depth), 0);
    });
  }

  /** The upper edge of the calls of a depth, and whether it is in sight. */
  rowOf(depth, top) {
    const y = top + this.callsTop + depth * CALL_ROW;
    return { y, isSeen: y + CALL_ROW >= AXIS && y <= this.scroller.clientHeight };
  }

  fillCalls(top) {
    const { theme, model, pixels } = this;
    model.once("colors of calls", [model.found, theme.isDark, pixels], () => (this.colors = new Map()));
    const rows = Array.from({ length: this.deepest + 1 }, (_, depth) => this.rowOf(depth, top));
    for (const { name, depth, start, end } of this.calls) {
      const { y, isSeen } = rows[depth];
      if (!isSeen) continue;
      if (!this.colors.has(name)) this.colors.set(name, this.colorOf(name));
      pixels.fillTop(start, y, end - (end - start > 3 ? 1 : 0), y + CALL_ROW - 1, this.colors.get(name));
    }
    for (const { y, isSeen } of rows) if (isSeen) pixels.extend(y, y + CALL_ROW - 1);
  }

  colorOf(name) {
    const { theme, model, pixels } = this;
    if (model.found?.[name]) return pixels.color(theme.fixed.hit);
    return pixels.color(theme.group(model.data.facts.group[name]), model.found ? theme.fixed.dim : 1);
  }

  writeCalls(top) {
    const { still: context, theme, times, model, picture } = this;
    const row = times.rows[this.lane];
    const heading = top + this.callsTop - CALL_ROW / 2;
    const above = this.common.map((id) => picture.label(id).texts.at(-1));
    const below = above.length > 2 ? `${above[0]} \u2192 ${above.length - 2} more \u2192 ${above.at(-1)}` : above.join(" \u2192 ");
    const whose = times.rows.length > 1 ? `Calls of ${row.name}` : "Calls";
    context.font = font(11, false);
    context.fillStyle = theme.fixed.faint;
    context.fillText(`${whose} in the order of time${below && `, below ${below}`}`, 6, heading);
    const { ink, hitInk, dim } = theme.fixed;
    for (const call of this.calls) {
      const width = call.end - call.start;
      if (width < 3) continue;
      const { y, isSeen } = this.rowOf(call.depth, top);
      if (!isSeen) continue;
      const isHit = model.found?.[call.name];
      if (call.name === model.state.pin) {
        context.strokeStyle = ink;
        context.lineWidth = 1.5;
        context.strokeRect(call.start + 1, y + 1, width - 2.5, CALL_ROW - 3);
      }
      if (width < 20) continue;
      const label = fitLabel(picture.label(call.name), width, this.act.ruler);
      if (!label) continue;
      context.globalAlpha = Math.max(model.found && !isHit ? dim : 1, FAINTEST_LABEL);
      context.fillStyle = isHit ? hitInk : ink;
      context.font = font(label.size, false);
      context.letterSpacing = letterSpacing(label.size);
      context.fillText(label.text, call.start + label.left, y + CALL_ROW / 2);
    }
    context.letterSpacing = letterSpacing(12);
    context.globalAlpha = 1;
  }

  drawRange(high) {
    const { context, theme, range } = this;
    if (!range) return;
    const [left, right] = range.map((step) => this.x(step));
    context.fillStyle = theme.fixed.paper;
    context.globalAlpha = 0.6;
    context.fillRect(0, AXIS, Math.max(0, left), high);
    context.fillRect(right, AXIS, Math.max(0, this.width - right), high);
    context.globalAlpha = 1;
    context.fillStyle = theme.fixed.taken;
    for (const x of [left, right]) {
      context.fillRect(x - 1, 0, 2, high);
      context.fillRect(x - 4, 2, 8, AXIS - 6);
    }
  }

  // Acting

  /** Sets what is seen, within the recording. */
  look(from, to) {
    const { steps } = this.times;
    const width = Math.max(1, Math.min(steps, to - from));
    const start = Math.max(0, Math.min(steps - width, from));
    const wasWhole = this.isWhole;
    this.view = [start, start + width];
    if (this.isWhole !== wasWhole) this.showControls();
    this.later();
  }

  /** Shows more or less time around a step, which stays where it is. */
  zoom(by, around = (this.view[0] + this.view[1]) / 2) {
    const [from, to] = this.view;
    this.look(around - (around - from) * by, around + (to - around) * by);
  }

  zoomToRange() {
    const { range } = this;
    if (!range) return;
    const margin = (range[1] - range[0]) * 0.05;
    this.look(range[0] - margin, range[1] + margin);
  }

  /** Sets the range: two steps in any order, rounded to whole ones. */
  choose(one, other, isDone) {
    const { steps } = this.times;
    const [from, to] = [Math.min(one, other), Math.max(one, other)].map((step) => Math.max(0, Math.min(steps, this.rounded(step))));
    const range = [from, Math.max(to, Math.min(from + 1, steps))];
    this.pending = isDone ? null : range;
    if (isDone) this.act.range(range[0] === 0 && range[1] === steps ? null : range);
    else element("timeline-bar").querySelector(".timeline-range").textContent = this.said(range);
    this.later();
  }

  /** The step near another that is written with few digits: a pixel stands for a range of them. */
  rounded(step) {
    const { times, view } = this;
    const pixel = ((view[1] - view[0]) * times.step) / (this.width || this.scroller.clientWidth || 1);
    const unit = Math.max(times.step, 10 ** Math.floor(Math.log10(Math.max(pixel, 1))));
    const ns = Math.round(times.at(step) / unit) * unit;
    return Math.round((ns - times.from) / times.step);
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  /** The call at a point, or undefined. */
  callAt(x, y) {
    const depth = Math.floor((y + this.scroller.scrollTop - this.callsTop) / CALL_ROW);
    return this.calls?.find((call) => call.depth === depth && call.start <= x && x < call.end);
  }

  laneAt(y) {
    const lane = Math.floor((y + this.scroller.scrollTop - AXIS) / LANE);
    return lane >= 0 ? (this.lanes[lane] ?? -1) : -1;
  }

  listen() {
    const { canvas, scroller } = this;
    scroller.addEventListener("scroll", () => this.later());
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const type of ["pointerup", "pointercancel"]) canvas.addEventListener(type, (event) => this.up(event));
    canvas.addEventListener("dblclick", () => this.act.range(null));
    canvas.addEventListener("pointerleave", () => this.act.tip(null));
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.later()).observe(scroller);
  }

  wheel(event) {
    const [x, y] = this.at(event);
    const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
    // Over the calls, the wheel scrolls, unless they fit.
    const scrolls = this.scroller.scrollHeight > this.scroller.clientHeight + 1 && y + this.scroller.scrollTop > this.callsTop;
    if (scrolls && !isSideways && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const [from, to] = this.view;
    const by = ((event.deltaX || event.deltaY) / this.width) * (to - from);
    if (isSideways) this.look(from + by, to + by);
    else this.zoom(1.0015 ** event.deltaY, this.step(x));
  }

  down(event) {
    if (event.button > 0) return;
    const [x] = this.at(event);
    this.pointers.set(event.pointerId, x);
    this.canvas.setPointerCapture?.(event.pointerId);
    this.act.tip(null);
    if (this.pointers.size === 2) {
      // Two fingers zoom.
      this.drag = this.pending = null;
      this.pinched = [...this.pointers.values()].map((x) => this.step(x));
      return;
    }
    const { range } = this;
    const reach = event.pointerType === "touch" ? TOUCH_REACH : EDGE_REACH;
    const near = range?.findIndex((step) => Math.abs(this.x(step) - x) <= reach) ?? -1;
    this.drag = { x, fixed: near >= 0 ? range[1 - near] : this.step(x), isEdge: near >= 0 };
  }

  move(event) {
    const [x, y] = this.at(event);
    if (this.pointers.has(event.pointerId)) this.pointers.set(event.pointerId, x);
    if (this.pinched) {
      const [one, other] = [...this.pointers.values()];
      if (other === undefined || Math.abs(one - other) < 8) return;
      // Each finger keeps its moment.
      const per = (this.pinched[1] - this.pinched[0]) / (other - one);
      if (per > 0) this.look(this.pinched[0] - one * per, this.pinched[0] + (this.width - one) * per);
      return;
    }
    const { drag } = this;
    if (drag) {
      if (drag.isEdge || drag.isMoved || Math.abs(x - drag.x) >= LEAST_DRAG) {
        drag.isMoved = true;
        this.choose(drag.fixed, this.step(x), false);
      }
      return;
    }
    const isAtEdge = this.range?.some((step) => Math.abs(this.x(step) - x) <= EDGE_REACH);
    const call = this.callAt(x, y);
    this.canvas.style.cursor = isAtEdge ? "ew-resize" : call ? "pointer" : "crosshair";
    if (event.pointerType !== "touch") this.act.tip(this.tipLines(x, y, call), event);
  }

  /** What is under the pointer. */
  tipLines(x, y, call) {
    const { times, model, picture } = this;
    const step = Math.floor(this.step(x));
    const when = times.text(Math.max(0, Math.min(times.steps, step)));
    if (call) {
      const { name, place } = picture.facts(call.name);
      const long = ((call.end - call.start) / this.width) * (this.view[1] - this.view[0]) * times.step;
      return [name, ...(place ? [place] : []), `from ${writeTime(times.at(Math.max(0, Math.round(this.step(call.start)))))}, about ${writeTime(Number(long.toPrecision(2)))}`];
    }
    const lane = this.laneAt(y);
    if (lane < 0) return null;
    const per = this.columnSteps;
    const from = Math.floor(step / per) * per;
    const idle = this.idleBetween(lane, from, from + per);
    const value = this.between(lane, from, from + per) - idle;
    const nanoseconds = times.lasts[model.state.metric];
    const busy = nanoseconds ? `${Math.round((100 * value * nanoseconds) / (per * times.step))}% of one CPU` : model.format.value(Math.round(value));
    const pause = this.pauseAt(this.step(x));
    const [, length, cause] = pause ?? [];
    return [times.rows[lane].name, `${when}: ${busy}${idle > 0 ? (value > idle * 1e-9 ? ", partly idle" : ", idle") : ""}`, ...(pause ? [`GC pause of ${writeTime(Number(length.toPrecision(3)))}${cause && `: ${cause}`}`] : [])];
  }

  up(event) {
    const [x, y] = this.at(event);
    this.pointers.delete(event.pointerId);
    if (this.pinched) {
      if (!this.pointers.size) this.pinched = null;
      return;
    }
    const { drag } = this;
    this.drag = null;
    if (!drag) return;
    if (event.type === "pointercancel") {
      this.pending = null;
      return this.show();
    }
    if (drag.isMoved) return this.choose(drag.fixed, this.step(x), true);
    const call = this.callAt(x, y);
    if (call) return this.act.pin(call.name);
    const lane = this.laneAt(y);
    if (lane >= 0) this.lane = lane;
    this.later();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey) return;
    const [from, to] = this.view;
    const by = Math.max(1, Math.round((to - from) / 40));
    const turn = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const lane = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (turn) {
      const [start, end] = this.range ?? [from, to].map((edge) => Math.round(edge + (edge === from ? 1 : -1) * ((to - from) / 3)));
      const shift = turn * by;
      // Shift moves the end, Alt the beginning, and neither moves both.
      if (event.shiftKey) this.choose(start, Math.max(start + 1, end + shift), true);
      else if (event.altKey) this.choose(Math.min(end - 1, start + shift), end, true);
      else if (start + shift >= 0 && end + shift <= this.times.steps) this.choose(start + shift, end + shift, true);
    } else if (lane && !event.altKey) {
      const { lanes } = this;
      this.lane = lanes[Math.max(0, Math.min(lanes.length - 1, lanes.indexOf(this.lane) + lane))];
      this.later();
    } else if (event.key === "+" || event.key === "=") this.zoom(0.5);
    else if (event.key === "-") this.zoom(2);
    else if (event.key === "0" || event.key === "Home") this.look(0, this.times.steps);
    else if (event.key === "Enter") this.zoomToRange();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
