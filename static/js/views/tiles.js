// The map of a large group: one canvas of tiles; a click leads into the cells of one piece.
import { order } from "../lib/columns.js";
import * as owners from "../lib/owners.js";
import { pieces, tiles } from "../lib/tiles.js";
import { make } from "../lib/svg.js";
import { fill, gettext, ngettext } from "../lib/words.js";
import { shown } from "../lib/shown.js";

const [LEFT, HEAD, ROW, NARROWEST, WIDEST] = [128, 66, 14, 5, 72];
const LONGEST_NAME = 18; // letters
const [BEFORE_EDGE, MOST_NAME] = [4, 84]; // px that a name keeps from the next one, and has where it goes over others

export class TileMap {
  /** `grammar` says what columns and cells are, as for a map of cells; `onPoint` is told which piece is pointed at. */
  constructor(host, { onZoom, onSay, onPoint = () => {}, grammar = owners }) {
    this.host = host;
    this.grammar = grammar;
    this.onPoint = onPoint;
    this.onZoom = onZoom;
    this.onSay = onSay;
    this.selected = -1;
    this.band = -1; // none: all rows of the piece
    this.canvas = make("canvas", { tabindex: "0", role: "application",
      "aria-label": gettext("Map in tiles; arrow keys move, Enter opens a tile in cells") });
    host.replaceChildren(make("div", { class: "tiles" }, this.canvas));
    this.canvas.addEventListener("pointermove", (event) => this.#point(event));
    this.canvas.addEventListener("click", (event) => {
      this.#point(event);
      this.open();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.paint());
  }

  update(state) {
    const picture = this.grammar.judge(state);
    if (picture.queues !== this.picture?.queues) this.columns = order(picture.queues);
    this.state = state;
    this.picture = picture;
    const most = Math.floor((this.host.clientWidth - LEFT) / NARROWEST);
    this.pieces = pieces(picture, this.columns, this.grammar, Math.max(1, most));
    this.selected = Math.min(this.selected, this.pieces.length - 1);
    this.grid = tiles(picture, state, this.pieces, this.grammar);
    this.band = Math.min(this.band, this.grid.bands - 1);
    this.paint();
  }

  /** Let tiles be as dark as those of another map that has so many queues in its fullest one. */
  scaleTo(most) {
    this.grid.most = most;
    this.paint();
  }

  /** Mark the piece that another map of the same queues points at; says nothing. */
  showPiece(number, band) {
    this.selected = number;
    this.band = Math.min(band, this.grid.bands - 1);
    this.paint();
  }

  move(rows, columns) {
    if (rows) this.band = Math.min(Math.max(this.band + rows, 0), this.grid.bands - 1);
    this.selected = Math.min(Math.max(this.selected + columns, 0), this.pieces.length - 1);
    this.#told();
  }

  open() {
    const piece = this.pieces[this.selected];
    if (piece) this.onZoom(piece.key);
  }

  paint() {
    if (!this.pieces) return;
    const room = this.host.clientWidth - LEFT;
    this.step = Math.max(NARROWEST, Math.min(WIDEST, room / Math.max(1, this.pieces.length)));
    const [width, height] = [this.#left(this.pieces.length), HEAD + this.grid.bands * ROW + 8];
    const density = devicePixelRatio || 1;
    Object.assign(this.canvas, { width: width * density, height: height * density });
    Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
    const pen = this.canvas.getContext("2d");
    pen.scale(density, density);
    const ink = colours(this.host);
    this.#heads(pen, ink, height);
    this.#bands(pen, ink);
    this.grid.grid.forEach((counts, x) => counts.forEach((held, y) => this.#tile(pen, ink, x, y, held, this.grid.gains[x][y])));
    if (this.selected >= 0) {
      pen.strokeStyle = ink.ink;
      pen.lineWidth = 2;
      pen.strokeRect(this.#left(this.selected), 34, this.#wide(this.selected), height - 38);
      if (this.band >= 0) pen.strokeRect(this.#left(this.selected), HEAD + this.band * ROW - 1, this.#wide(this.selected), ROW + 1);
    }
  }

  /** Where a piece begins: on a whole pixel, so that edges are sharp whatever the room. */
  #left(place) {
    return LEFT + Math.round(place * this.step);
  }

  #wide(place) {
    return this.#left(place + 1) - this.#left(place);
  }

  /** A tile: the more it holds the darker; what of it is got from others stands as a stripe at its foot. */
  #tile(pen, ink, x, y, held, gained) {
    if (!held) return;
    const [left, top, width, height] = [this.#left(x) + 0.5, HEAD + y * ROW, this.#wide(x) - 1, ROW - 1];
    pen.globalAlpha = 0.25 + (0.75 * held) / this.grid.most;
    pen.fillStyle = ink.held;
    pen.fillRect(left, top, width, height);
    pen.globalAlpha = 1;
    if (!gained) return;
    const part = Math.max(3, Math.round((height * gained) / held));
    pen.fillStyle = ink.wanted;
    pen.fillRect(left, top + height - part, width, part);
  }

  #heads(pen, ink, height) {
    let [topic, free] = [null, LEFT];
    pen.textBaseline = "alphabetic";
    this.pieces.forEach((piece, i) => {
      const [x, width] = [this.#left(i), this.#wide(i)];
      if (piece.topic !== topic) {
        topic = piece.topic;
        const end = this.pieces.findLastIndex((each) => each.topic === topic) + 1;
        pen.fillStyle = ink.ink;
        pen.font = `600 12px ${ink.sans}`;
        const own = within(pen, shown(topic, 80), this.#left(end) - x - BEFORE_EDGE);
        const name = own || within(pen, shown(topic, 80), MOST_NAME); // over its neighbours, which have no room either
        if (x >= free) {
          pen.fillText(name, x, 12);
          free = x + pen.measureText(name).width + BEFORE_EDGE;
        }
        pen.fillStyle = ink.line;
        pen.fillRect(x, 18, 1, height);
      }
      pen.fillStyle = ink.dim;
      pen.font = `11px ${ink.mono}`;
      this.#broker(pen, piece, i);
      bar(pen, ink.none, x, 46, piece.none, width);
      bar(pen, ink.two, x, 60, piece.two, width);
    });
    pen.font = `11px ${ink.sans}`;
    pen.fillStyle = ink.noneInk;
    pen.fillText(gettext("queues without owner"), 0, 46, LEFT - 6);
    pen.fillStyle = ink.twoInk;
    pen.fillText(gettext("queues with two owners"), 0, 60, LEFT - 6);
  }

  /** What tells a broker from others, the end of its name, over the first of its pieces, if it has the room. */
  #broker(pen, { topic, broker }, i) {
    const isOf = (piece) => piece?.topic === topic && piece.broker === broker;
    if (broker === null || isOf(this.pieces[i - 1])) return;
    let end = i + 1;
    while (isOf(this.pieces[end])) end++;
    const room = this.#left(end) - this.#left(i);
    const names = [shown(broker, 40), shown(broker.slice(broker.lastIndexOf("-") + 1), 20)];
    const fitting = names.find((name) => pen.measureText(name).width <= room - (name.length > 1 ? BEFORE_EDGE : 0));
    if (fitting) pen.fillText(fitting, this.#left(i) + (fitting.length > 1 ? 2 : (room - pen.measureText(fitting).width) / 2), 30);
  }

  #bands(pen, ink) {
    pen.fillStyle = ink.dim;
    pen.font = `11px ${ink.mono}`;
    const { size, bands } = this.grid;
    for (let band = 0; band < bands; band += size === 1 ? 1 : 2) {
      const [from, to] = [band * size + 1, Math.min((band + 1) * size, this.state.members.length)];
      const words = size === 1 ? shown(this.state.members[band].client, LONGEST_NAME) : fill(gettext("clients %(from)s–%(to)s"), { from, to });
      pen.fillText(words, 0, HEAD + band * ROW + 11, LEFT - 6);
    }
  }

  #point({ offsetX: x, offsetY: y }) {
    const [selected, row] = [Math.floor((x - LEFT) / this.step), Math.floor((y - HEAD) / ROW)];
    const band = row >= 0 && row < this.grid.bands ? row : -1;
    if ((selected === this.selected && band === this.band) || selected < 0 || selected >= this.pieces.length) return;
    [this.selected, this.band] = [selected, band];
    this.#told();
  }

  #told() {
    this.say();
    this.paint();
    this.onPoint(this.selected, this.band);
  }

  /** Say what the piece that is pointed at has. */
  say() {
    const piece = this.pieces[this.selected];
    const n = piece.numbers.length;
    const gained = this.grid.gains[this.selected].reduce((sum, each) => sum + each, 0);
    this.onSay(piece.name, [
      piece.broker === null ? fill(ngettext("%(n)s queue, on all brokers.", "%(n)s queues, on all brokers.", n), { n }) : fill(ngettext("%(n)s queue from here on.", "%(n)s queues from here on.", n), { n }),
      piece.none ? fill(gettext("%(n)s without owner."), { n: piece.none }) : "",
      piece.two ? fill(gettext("%(n)s with two owners."), { n: piece.two }) : "",
      piece.unknown ? fill(gettext("%(n)s unknown."), { n: piece.unknown }) : "",
      this.band < 0 ? "" : bandWords(this.state.members, this.band, this.grid.size, this.grid.grid[this.selected][this.band]),
      gained ? fill(gettext("%(n)s of them would get another owner."), { n: gained }) : "",
      gettext("Enter or a click shows its cells."),
    ].filter(Boolean).join(" "));
  }
}

const MOST_NAMED = 3;

/** Who is of a row, and how many queues of a piece they hold. */
export function bandWords(members, band, size, n) {
  const mine = members.slice(band * size, (band + 1) * size).map(({ client }) => shown(client, 40));
  const clients = mine.slice(0, MOST_NAMED).join(", ") + (mine.length > MOST_NAMED ? ", …" : "");
  if (mine.length === 1) return fill(gettext("%(clients)s: %(n)s of them."), { clients, n });
  return fill(gettext("Clients %(from)s–%(to)s (%(clients)s): %(n)s of them."), { from: band * size + 1, to: band * size + mine.length, clients, n });
}

/** As much of a name as there is room for. */
function within(pen, name, room) {
  if (pen.measureText(name).width <= room) return name;
  let most = name.length;
  while (most > 0 && pen.measureText(`${name.slice(0, most)}…`).width > room) most--;
  return most > 1 ? `${name.slice(0, most)}…` : "";
}

function bar(pen, colour, x, bottom, count, width) {
  if (!count) return;
  const height = Math.min(3 + 2 * Math.log2(count), 10);
  pen.fillStyle = colour;
  pen.fillRect(x + 1, bottom - height, width - 2, height);
}

/** What the roles of the stylesheet come to in this theme. */
function colours(host) {
  const probe = make("span", { hidden: true });
  host.append(probe);
  const of = (role) => {
    probe.style.color = `var(--${role})`;
    return getComputedStyle(probe).color;
  };
  const found = { held: of("held"), none: of("none"), two: of("two"), noneInk: of("none-ink"), twoInk: of("two-ink"), wanted: of("wanted"), ink: of("ink"), dim: of("ink-3"), line: of("line-strong") };
  const style = getComputedStyle(document.documentElement);
  probe.remove();
  return { ...found, sans: style.getPropertyValue("--sans"), mono: style.getPropertyValue("--mono") };
}
