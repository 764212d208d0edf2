// The map of a large group: one canvas of tiles; a click leads into the cells of one piece.
import { order } from "../lib/columns.js";
import * as owners from "../lib/owners.js";
import { pieces, tiles } from "../lib/tiles.js";
import { make } from "../lib/svg.js";
import { fill, gettext, ngettext } from "../lib/words.js";
import { shown } from "../lib/shown.js";

const [LEFT, HEAD, ROW, NARROWEST, WIDEST] = [128, 66, 14, 9, 72];
const LONGEST_NAME = 18; // letters

export class TileMap {
  /** `grammar` says what columns and cells are, as for a map of cells; `onPoint` is told which piece is pointed at. */
  constructor(host, { onZoom, onSay, onPoint = () => {}, grammar = owners }) {
    this.host = host;
    this.grammar = grammar;
    this.onPoint = onPoint;
    this.onZoom = onZoom;
    this.onSay = onSay;
    this.selected = -1;
    this.canvas = make("canvas", { tabindex: "0", role: "application",
      "aria-label": gettext("Map in tiles; arrow keys move, Enter opens a tile in cells") });
    host.replaceChildren(make("div", { class: "tiles" }, this.canvas));
    this.canvas.addEventListener("pointermove", (event) => this.#point(event.offsetX));
    this.canvas.addEventListener("click", (event) => {
      this.#point(event.offsetX);
      this.open();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.paint());
  }

  update(state) {
    const picture = this.grammar.judge(state);
    if (picture.queues !== this.picture?.queues) this.columns = order(picture.queues);
    this.state = state;
    this.picture = picture;
    this.pieces = pieces(picture, this.columns, this.grammar);
    this.selected = Math.min(this.selected, this.pieces.length - 1);
    this.grid = tiles(picture, state, this.pieces, this.grammar);
    this.paint();
  }

  /** Let tiles be as dark as those of another map that has so many queues in its fullest one. */
  scaleTo(most) {
    this.grid.most = most;
    this.paint();
  }

  /** Mark the piece that another map of the same queues points at; says nothing. */
  showPiece(number) {
    this.selected = number;
    this.paint();
  }

  move(_rows, columns) {
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
    this.step = Math.max(NARROWEST, Math.min(WIDEST, Math.floor(room / Math.max(1, this.pieces.length))));
    const [width, height] = [LEFT + this.step * this.pieces.length, HEAD + this.grid.bands * ROW + 8];
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
      pen.strokeRect(LEFT + this.selected * this.step, 34, this.step, height - 38);
    }
  }

  /** A tile: the more it holds the darker; what of it is got from others stands as a stripe at its foot. */
  #tile(pen, ink, x, y, held, gained) {
    if (!held) return;
    const [left, top, width, height] = [LEFT + x * this.step + 0.5, HEAD + y * ROW, this.step - 1, ROW - 1];
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
    let topic = null;
    pen.textBaseline = "alphabetic";
    this.pieces.forEach((piece, i) => {
      const x = LEFT + i * this.step;
      if (piece.topic !== topic) {
        topic = piece.topic;
        const end = this.pieces.findLastIndex((each) => each.topic === topic) + 1;
        pen.fillStyle = ink.ink;
        pen.font = `600 12px ${ink.sans}`;
        pen.fillText(shown(topic, 40), x, 12, (end - i) * this.step - 4);
        pen.fillStyle = ink.line;
        pen.fillRect(x, 18, 1, height);
      }
      pen.fillStyle = ink.dim;
      pen.font = `11px ${ink.mono}`;
      const short = shown(piece.broker.slice(piece.broker.lastIndexOf("-") + 1), 20);
      if (piece.broker !== this.pieces[i - 1]?.broker || topic !== this.pieces[i - 1]?.topic) pen.fillText(short, x + 2, 30, Math.max(this.step, 8));
      bar(pen, ink.none, x, 46, piece.none, this.step);
      bar(pen, ink.two, x, 60, piece.two, this.step);
    });
    pen.font = `11px ${ink.sans}`;
    pen.fillStyle = ink.noneInk;
    pen.fillText(gettext("queues without owner"), 0, 46, LEFT - 6);
    pen.fillStyle = ink.twoInk;
    pen.fillText(gettext("queues with two owners"), 0, 60, LEFT - 6);
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

  #point(x) {
    const selected = Math.floor((x - LEFT) / this.step);
    if (selected === this.selected || selected < 0 || selected >= this.pieces.length) return;
    this.selected = selected;
    this.#told();
  }

  #told() {
    this.say();
    this.paint();
    this.onPoint(this.selected);
  }

  /** Say what the piece that is pointed at has. */
  say() {
    const piece = this.pieces[this.selected];
    const n = piece.numbers.length;
    const gained = this.grid.gains[this.selected].reduce((sum, each) => sum + each, 0);
    this.onSay(piece.key, [
      fill(ngettext("%(n)s queue from here on.", "%(n)s queues from here on.", n), { n }),
      piece.none ? fill(gettext("%(n)s without owner."), { n: piece.none }) : "",
      piece.two ? fill(gettext("%(n)s with two owners."), { n: piece.two }) : "",
      piece.unknown ? fill(gettext("%(n)s unknown."), { n: piece.unknown }) : "",
      gained ? fill(gettext("%(n)s of them would get another owner."), { n: gained }) : "",
      gettext("Enter or a click shows its cells."),
    ].filter(Boolean).join(" "));
  }
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
