// The map in cells: SVG, keyed, so that a push touches only what changed. Rows are members, columns queues.
import * as owners from "../lib/owners.js";
import { fit, isRetry, keyOf, middleOf, numbered, order, place } from "../lib/columns.js";
import { draw, make, set } from "../lib/svg.js";
import { gettext, fill } from "../lib/words.js";
import { HARD } from "../lib/time.js";
import { shown } from "../lib/shown.js";
import { drawLags } from "./lag-row.js";
import { halvesOf, rateOf, rowsOf, signOf, tailsOf } from "./map-rows.js";

const HEAD = 66;
const [LEAST_NAMES, PER_LETTER, BESIDE_NAMES] = [200, 7.6, 50]; // px; names without words beside them may need less
const [NARROW, NARROW_NAMES, NARROW_ROOM] = [480, 144, 260]; // a phone: who is there says no more, cells can be touched, loads are to the right
const [ROOM_FOR_LOADS, ROOM_FOR_RATES] = [170, 76];

export class CellMap {
  /** `grammar` says what columns and cells are: by default of what is held, against what is wanted; `hasLags`: what is
   * below each queue is how far the group is behind in it; `hasRates`: each row says how much its member consumes. */
  constructor(host, { zoom = null, onPoint = () => {}, grammar = owners, hasLags = false, hasRates = false } = {}) {
    this.hasLags = hasLags;
    this.hasRates = hasRates;
    this.host = host;
    this.grammar = grammar;
    this.zoom = zoom;
    this.onPoint = onPoint;
    this.leastNames = 0; // px for names, so that the columns of another map stand below or above these
    this.point = null; // {row, column}: indices
    this.touched = 0; // columns painted by the last update
    this.root = null;
  }

  /** Show a state. `extra`: who left, which brokers are away, when members were seen, lags, now; `others`: queues that another map has. */
  update(state, extra) {
    const picture = this.grammar.judge(state);
    const all = order(picture.queues, state.strays, extra.others);
    const columns = this.zoom ? this.zoom(all) : all;
    const rows = rowsOf(state, extra, picture, columns, Boolean(this.zoom));
    const shape = [columns.map(keyOf).join(), rows.length, this.host.clientWidth, this.leastNames].join(" ");
    const at = this.at();
    if (shape !== this.shape) this.#build(columns, rows, shape);
    this.columns = this.columns.map(({ x }, i) => ({ ...columns[i], x })); // numbers shift where others become strays
    this.state = state;
    this.picture = picture;
    this.extra = extra;
    this.#rows(rows);
    this.#columns();
    if (this.hasLags) drawLags(this.foot, this.columns, this.layout.cell, extra.lags, extra.now);
    if (at) this.#keepPoint(...at);
    this.#pointAgain();
  }

  /** Leave the crosshair on the queue and the member where it was, as far as they are still there. */
  #keepPoint({ topic, broker, id }, client) {
    const key = keyOf({ topic, broker, id });
    const [row, column] = [this.#rowOf(client), this.columns.findIndex((each) => keyOf(each) === key)];
    if (row >= 0) this.point.row = row;
    if (column >= 0) this.point.column = column;
  }

  /** Show for a while that queues moved: a circle where they were, an arrow to where they are. */
  trace(moves) {
    for (const [number, from, to] of moves.slice(0, 400)) {
      const column = this.columns.find((each) => each.number === number);
      const [a, b] = [this.#rowOf(from), this.#rowOf(to)];
      if (!column || a < 0 || b < 0 || a === b) continue;
      const x = column.x + this.layout.cell / 2;
      const y = (row) => row * this.row + this.row / 2;
      const down = b > a ? 1 : -1;
      const tip = y(b) - down * this.row * 0.2;
      const trace = draw("g", { class: "trace" },
        draw("path", { d: `M${x} ${y(a)}V${tip - down * 4}` }),
        draw("circle", { class: "origin", cx: x, cy: y(a), r: 2.6 }),
        draw("path", { class: "arrow", d: `M${x - 3.5} ${tip - down * 6}h7l-3.5 ${down * 6}z` }));
      trace.addEventListener("animationend", () => trace.remove());
      setTimeout(() => trace.remove(), 31000); // with reduced motion there is no animation to end
      this.traces.append(trace);
    }
  }

  /** Move the crosshair by keys. */
  move(rows, columns) {
    if (!this.columns?.length || !this.rows.length) return;
    const { row, column } = this.point ?? { row: 0, column: -columns };
    const within = (value, most) => Math.min(Math.max(value, 0), most - 1);
    this.select(within(row + (this.point ? rows : 0), this.rows.length), within(column + columns, this.columns.length));
    const at = this.columns[this.point.column];
    const box = this.root;
    const room = box.clientWidth - this.names.offsetWidth;
    if (at.x < box.scrollLeft) box.scrollLeft = at.x - 20;
    else if (at.x + this.layout.cell > box.scrollLeft + room) box.scrollLeft = at.x + this.layout.cell - room + 20;
    const y = this.point.row * this.row;
    const tall = box.clientHeight - HEAD;
    if (y < box.scrollTop) box.scrollTop = y;
    else if (y + this.row > box.scrollTop + tall) box.scrollTop = y + this.row - tall;
  }

  select(row, column) {
    this.point = { row, column };
    this.#pointAgain();
    this.onPoint(this.columns[column], this.rows[row]?.client ?? null);
  }

  /** Put the crosshair where another map of the same queues and members has it; says nothing. */
  showPoint({ topic, broker, id }, client) {
    const column = this.columns.findIndex((each) => each.topic === topic && each.broker === broker && each.id === id);
    const row = client === null ? -1 : this.#rowOf(client);
    if (column >= 0 && row >= 0) this.point = { row, column };
    this.#pointAgain();
  }

  /** What is under the crosshair: the column and the client of the row; null is nothing. */
  at() {
    const column = this.point && this.columns[this.point.column];
    const row = this.point && this.rows[this.point.row];
    return column && row ? [column, row.client] : null;
  }

  /** Say again what is under the crosshair. */
  again() {
    const at = this.at();
    if (at) this.onPoint(...at);
  }

  /** Put the crosshair on a queue by its name, as a URL has it. */
  selectQueue(topic, broker, id) {
    const column = this.columns.findIndex((each) => each.topic === topic && each.broker === broker && each.id === id);
    if (column < 0) return;
    const holder = this.columns[column].number === null ? null : this.picture.holders[this.columns[column].number][0];
    this.select(Math.max(0, holder ? this.#rowOf(holder) : 0), column);
  }

  #rowOf(client) {
    return this.rows.findIndex((row) => row.client === client);
  }

  #build(columns, rows, shape) {
    const isNarrow = this.host.clientWidth > 0 && this.host.clientWidth < NARROW;
    const names = isNarrow ? NARROW_NAMES : Math.max(this.leastNames, roomForNames(rows));
    const room = isNarrow ? NARROW_ROOM : Math.max(200, this.host.clientWidth - names - BESIDE_NAMES - ROOM_FOR_LOADS - (this.hasRates ? ROOM_FOR_RATES : 0));
    this.isNarrow = isNarrow;
    this.shape = shape;
    this.layout = place(columns, room);
    this.columns = this.layout.columns;
    this.row = rows.length > 120 ? 10 : rows.length > 24 ? 14 : 30;
    this.painted = new Map();
    this.rowGroups = new Map();
    const { width } = this.layout;
    const height = rows.length * this.row;
    this.names = make("ul", { class: "names" });
    this.loads = make("ul", { class: "loads" });
    this.loadHead = make("div", { class: "load-head" });
    this.head = draw("svg", { class: "columns", width: width + 18, height: HEAD, "aria-hidden": "true" });
    this.rules = draw("g", {}, ...rows.map((_, i) => draw("path", { class: "rule", d: `M0 ${(i + 1) * this.row - 0.5}H${this.layout.width}` })));
    this.grounds = draw("g");
    this.cellLayer = draw("g");
    this.traces = draw("g");
    this.cross = draw("g");
    this.cells = draw("svg", { class: "cells", width: width + 18, height: height + 1 },
      this.rules, this.cross, this.grounds, this.cellLayer, this.traces);
    this.cursor = draw("rect", { class: "cursor", rx: 2, visibility: "hidden" });
    this.cells.append(this.cursor);
    const old = this.root ? [this.root.scrollLeft, this.root.scrollTop] : null;
    const root = make("div", { class: "map", tabindex: "0", role: "application",
      "aria-label": gettext("Map of queues and consumers; arrow keys move, the sentence below says what is there"),
      "data-dense": this.row < 20, "data-rates": this.hasRates, "data-narrow": isNarrow },
      make("div", { class: "corner" }, gettext("client")), this.head,
      this.loadHead, this.names, this.cells, this.loads);
    if (this.hasLags) root.append(...this.#footOf(width));
    root.style.setProperty("--row", `${this.row}px`);
    root.style.setProperty("--names", `${names}px`);
    this.#heads();
    this.#listen();
    this.host.replaceChildren(root);
    this.root = root;
    if (old) [root.scrollLeft, root.scrollTop] = old;
  }

  #footOf(width) {
    const svg = draw("svg", { class: "lag-foot", width: width + 18, height: 38, "aria-hidden": "true" });
    this.foot = { svg, total: make("div", { class: "foot-load" }) };
    return [make("div", { class: "foot-names" }, make("span", {}, gettext("lag")), make("span", {}, gettext("last 60 s"))), svg, this.foot.total];
  }

  #heads() {
    const { topics, brokers, cell } = this.layout;
    for (const { key, from, to } of topics) {
      const title = draw("title", {}, shown(key));
      const words = isRetry(key) ? "retry" : shown(key);
      this.head.append(
        draw("text", { class: "of-topic", x: from, y: 11 }, fit(words, to - from + 8, 7), title),
        draw("path", { class: "of-rule", d: `M${from} 17.5H${to}` }));
    }
    for (const { name, from, to } of brokers) {
      this.head.append(draw("text", { class: "of-broker", x: from, y: 30 }, fit(shown(name), to - from + 4), draw("title", {}, shown(name))));
    }
    this.signs = draw("g");
    for (const column of numbered(this.columns, cell)) {
      this.head.append(draw("text", { class: "of-id", x: middleOf(column, cell), y: 45 }, String(column.id)));
    }
    this.head.append(this.signs);
  }

  #rows(rows) {
    this.rows = rows;
    const held = rows.map((row) => row.held);
    const known = held.filter((each) => each !== null && each !== undefined);
    const isWhole = !this.picture.silent.size && !this.picture.partial?.size;
    const mean = known.length && isWhole ? known.reduce((a, b) => a + b, 0) / Math.max(1, rows.filter((row) => row.state !== "left" && !row.isAbsent).length) : 0;
    const most = Math.max(1, ...known);
    const heading = !isWhole || !this.columns.length ? gettext("held") : fill(this.grammar.loadWords?.(this.picture) ?? gettext("held (mean %(mean)s)"), { mean: known.length ? mean.toFixed(1) : "–" });
    if (this.loadHead.textContent !== heading) this.loadHead.textContent = heading;
    this.rates = this.hasRates ? this.extra.rates.ofMembers(this.picture) : null;
    const tails = tailsOf(rows.map((row) => row.name));
    keepList(this.names, rows.map((row, i) => this.#name(row, tails[i])));
    keepList(this.loads, rows.map((row) => this.#load(row, mean, most)));
    const here = new Set(rows.map((row) => row.client));
    for (const [client, group] of this.rowGroups) {
      if (!here.has(client)) {
        group.remove();
        this.rowGroups.delete(client);
        this.painted.clear(); // its columns are painted anew
        for (const other of this.rowGroups.values()) other.replaceChildren();
      }
    }
    rows.forEach((row, i) => {
      let group = this.rowGroups.get(row.client);
      if (!group) {
        group = draw("g");
        this.rowGroups.set(row.client, group);
        this.cellLayer.append(group);
      }
      set(group, { transform: `translate(0 ${i * this.row})`, class: row.state === "late" ? "late" : null });
    });
  }

  #name(row, same) {
    const id = make("bdi", { class: "id", title: shown(row.client) });
    const { front, end, isSame } = halvesOf(row.name, same);
    if (front) id.append(make("span", { class: isSame ? "front same" : "front" }, front)); // gives way where there is no room
    id.append(make("span", { class: "own" }, end));
    id.style.setProperty("--end", end.length); // letters
    const item = make("li", { "data-state": row.state }, draw("svg", { class: "sign", viewBox: "-5 -5 10 10", "aria-hidden": "true" }, signOf(row)), id);
    const words = this.isNarrow ? row.short ?? row.words : row.words;
    if (this.row >= 20 && words) item.append(make("span", { class: "seen", title: row.words }, words));
    return item;
  }

  #load(row, mean, most) {
    const item = make("li");
    const mark = row.isPartial || this.extra.corrected?.includes(row.client) ? "bound" : "exact"; // reports of later tell otherwise
    const figure = make("span", { class: "fig num", "data-mark": row.isAbsent || row.state === "late" ? "none" : row.held === null ? "unknown" : mark }, row.held === null ? "–" : `${row.isPartial ? `≥${HARD}` : ""}${row.held}`);
    const scale = (value) => (96 * value) / Math.max(most, mean, 1);
    const bar = draw("svg", { viewBox: "0 0 96 14", "aria-hidden": "true" }, draw("rect", { class: "load-ground", y: 3, width: 96, height: 8 }),
      draw("rect", { class: "load-bar", y: 3, width: scale(row.held ?? 0), height: 8 }));
    if (mean > 0) bar.append(draw("path", { class: "load-mean", d: `M${scale(mean)} 0V14` }));
    item.append(figure, bar);
    if (this.rates) item.append(rateOf(this.rates.get(row.client), row));
    return item;
  }

  /** Paint the columns that are other than before, and no others. */
  #columns() {
    this.touched = 0;
    const { picture, extra } = this;
    const height = this.rows.length * this.row;
    for (const column of this.columns) {
      const key = keyOf(column);
      const kind = column.isStray ? "stray" : this.grammar.columnKind(picture, column.number);
      const cells = column.isStray ? this.#strays(column) : this.grammar.cellsOf(picture, column.number);
      const isAway = kind === "away" || extra.away.includes(column.broker);
      const look = `${kind} ${isAway} ${JSON.stringify(cells)}`;
      const before = this.painted.get(key);
      if (before?.look === look) continue;
      before?.parts.forEach((part) => part.remove());
      this.painted.set(key, { look, parts: this.#paint(column, kind, isAway, cells, height) });
      this.touched++;
    }
  }

  #strays(column) {
    return this.state.strays
      .filter((stray) => stray.topic === column.topic && stray.broker === column.broker && stray.queue_id === column.id)
      .map((stray) => [stray.client, "ok", false]);
  }

  #paint({ x }, kind, isAway, cells, height) {
    const { cell } = this.layout;
    const middle = x + cell / 2;
    const parts = [];
    const put = (layer, element) => {
      layer.append(element);
      parts.push(element);
    };
    if (isAway) {
      put(this.grounds, draw("rect", { class: "column-away", x, width: cell, height }));
      put(this.signs, draw("text", { class: "sign-away", x: middle, y: 61 }, "×"));
    } else if (kind === "stray") {
      put(this.grounds, draw("path", { class: "column-stray", d: `M${middle} 0V${height}` }));
    } else if (kind === "none") {
      put(this.grounds, draw("rect", { class: "column-none", x, width: cell, height }));
      put(this.signs, cell < 8 ? draw("path", { class: "sign-none", d: `M${middle} 52V63` }) : draw("path", { class: "sign-none", d: `M${middle - 4} 57.5a4 4 0 1 0 8 0a4 4 0 1 0 -8 0M${middle - 4.5} 62.5l9 -10` }));
    } else if (kind === "two") {
      put(this.grounds, draw("rect", { class: "column-two", x: x + 0.5, y: 0, width: cell - 1, height }));
      put(this.signs, draw("rect", { class: "sign-two", x: middle - Math.min(7, cell / 2), y: 50, width: Math.min(14, cell), height: 14, rx: 2 }));
      if (cell >= 12) put(this.signs, draw("text", { class: "digit", x: middle, y: 57.5 }, "2"));
    } else if (kind === "perhaps") {
      put(this.grounds, draw("rect", { class: "column-perhaps", x: x + 0.5, y: 0, width: cell - 1, height }));
      put(this.signs, draw("text", { class: "sign-unknown", x: middle, y: 61 }, cell < 8 ? "·" : cell < 16 ? "?" : "2?"));
    } else if (kind === "disputed") {
      put(this.signs, draw("text", { class: "sign-disputed", x: middle, y: 61 }, cell < 8 ? "·" : "≠"));
    } else if (kind === "unknown") {
      put(this.signs, draw("text", { class: "sign-unknown", x: middle, y: 61 }, cell < 8 ? "·" : "?"));
    } else if (kind === "let") {
      put(this.signs, draw("path", { class: "sign-let", d: `M${middle - 3} 55l3 5 3 -5` }));
    }
    for (const [client, look, hasRing] of cells) {
      const row = this.rowGroups.get(client);
      if (row) for (const part of this.#cell(x, look, hasRing, kind)) put(row, part);
    }
    return parts;
  }

  #cell(x, look, hasRing, kind) {
    const gap = this.layout.cell > 20 ? 3 : this.layout.cell > 10 ? 2 : this.layout.cell > 6 ? 1 : 0.5;
    const [width, height] = [this.layout.cell - gap, this.row - (this.row > 20 ? 8 : 3)];
    const y = (this.row - height) / 2;
    const box = { x: x + gap / 2, y, width, height, rx: width > 10 ? 2 : 0 };
    const cell = draw("rect", { class: `cell-${look}`, ...box, "data-cell": look });
    const parts = [cell];
    if (look === "want" && kind === "none") parts.unshift(draw("rect", { class: "cell-ground", ...box }));
    if (look === "gain" && width >= 12) parts.push(draw("path", { class: "plus", d: `M${x + this.layout.cell / 2} ${this.row / 2 - 3.5}v7m-3.5 -3.5h7` }));
    if (look === "claim" && width >= 12) parts.push(draw("text", { class: "digit is-claim", x: x + this.layout.cell / 2, y: this.row / 2 }, "?"));
    if (look === "two" && width >= 12) parts.push(draw("text", { class: "digit", x: x + this.layout.cell / 2, y: this.row / 2 }, "2"));
    if (hasRing) parts.push(draw("rect", { class: "ring", ...box }));
    return parts;
  }

  #listen() {
    const at = (event) => {
      const box = this.cells.getBoundingClientRect();
      const x = event.clientX - box.left;
      const column = this.columns.findIndex((each) => x >= each.x && x < each.x + this.layout.cell);
      const row = Math.floor((event.clientY - box.top) / this.row);
      return column >= 0 && row >= 0 && row < this.rows.length ? { row, column } : null;
    };
    const select = (event) => {
      const found = at(event);
      if (found && (event.type === "pointerdown" || found.row !== this.point?.row || found.column !== this.point?.column)) this.select(found.row, found.column);
    };
    this.cells.addEventListener("pointermove", select);
    this.cells.addEventListener("pointerdown", select);
  }

  #pointAgain() {
    if (!this.point) return;
    const row = Math.min(this.point.row, this.rows.length - 1);
    const column = this.columns[Math.min(this.point.column, this.columns.length - 1)];
    if (row < 0 || !column) return;
    const { cell, width } = this.layout;
    this.cross.replaceChildren(
      draw("rect", { class: "cross", y: row * this.row, width, height: this.row }),
      draw("rect", { class: "cross", x: column.x, width: cell, height: this.rows.length * this.row }));
    set(this.cursor, { x: column.x, y: row * this.row + 2, width: cell, height: this.row - 4, visibility: "visible" });
    [...this.names.children].forEach((item, i) => set(item, { "aria-current": i === row ? "true" : null }));
  }
}

/** Have these items in a list, and leave those in place that are as before: a page of many rows says each second how things are. */
function keepList(list, items) {
  items.forEach((item, i) => {
    const old = list.children[i];
    if (!old) list.append(item);
    else if (!old.isEqualNode(item)) old.replaceWith(item);
  });
  while (list.children.length > items.length) list.lastChild.remove();
}

/** Let maps of the same queues have them in the same columns, whatever names stand before them; `update` draws one anew. */
export function align(maps, update) {
  const cells = maps.filter((map) => map instanceof CellMap && map.names);
  const rooms = cells.map((map) => map.names.offsetWidth);
  const most = Math.max(...rooms);
  if (rooms.every((room) => room === most)) return;
  for (const map of cells) {
    map.leastNames = most;
    update(map);
  }
}

function roomForNames(rows) {
  if (rows.some((row) => row.words)) return LEAST_NAMES;
  return Math.min(LEAST_NAMES, BESIDE_NAMES + PER_LETTER * Math.max(0, ...rows.map((row) => row.name.length)));
}
