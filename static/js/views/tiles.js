// The map of a large group: one canvas of tiles; a click leads into the cells of one piece.
import { order } from "../lib/columns.js";
import { judge } from "../lib/owners.js";
import { pieces, tiles } from "../lib/tiles.js";
import { make } from "../lib/svg.js";
import { fill, gettext, ngettext } from "../lib/words.js";
import { shown } from "../lib/shown.js";

const [LEFT, HEAD, ROW, NARROWEST] = [128, 66, 14, 9];

export class TileMap {
  constructor(host, { onZoom, onSay }) {
    this.host = host;
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
    const picture = judge(state);
    if (picture.queues !== this.picture?.queues) this.columns = order(picture.queues);
    this.state = state;
    this.picture = picture;
    this.pieces = pieces(picture, this.columns);
    this.grid = tiles(picture, state, this.pieces);
    this.paint();
  }

  move(_rows, columns) {
    this.selected = Math.min(Math.max(this.selected + columns, 0), this.pieces.length - 1);
    this.#say();
    this.paint();
  }

  open() {
    const piece = this.pieces[this.selected];
    if (piece) this.onZoom(piece.key);
  }

  paint() {
    if (!this.pieces) return;
    const room = this.host.clientWidth - LEFT;
    this.step = Math.max(NARROWEST, Math.min(40, Math.floor(room / Math.max(1, this.pieces.length))));
    const [width, height] = [LEFT + this.step * this.pieces.length, HEAD + this.grid.bands * ROW + 8];
    const density = devicePixelRatio || 1;
    Object.assign(this.canvas, { width: width * density, height: height * density });
    Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
    const pen = this.canvas.getContext("2d");
    pen.scale(density, density);
    const ink = colours(this.host);
    this.#heads(pen, ink, height);
    this.#bands(pen, ink);
    this.grid.grid.forEach((counts, x) => counts.forEach((held, y) => this.#tile(pen, ink, x, y, held)));
    if (this.selected >= 0) {
      pen.strokeStyle = ink.ink;
      pen.lineWidth = 2;
      pen.strokeRect(LEFT + this.selected * this.step, 34, this.step, height - 38);
    }
  }

  #tile(pen, ink, x, y, held) {
    if (!held) return;
    pen.globalAlpha = 0.25 + (0.75 * held) / this.grid.most;
    pen.fillStyle = ink.held;
    pen.fillRect(LEFT + x * this.step + 0.5, HEAD + y * ROW, this.step - 1, ROW - 1);
    pen.globalAlpha = 1;
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
    for (let band = 0; band < this.grid.bands; band += 2) {
      const [from, to] = [band * this.grid.size + 1, Math.min((band + 1) * this.grid.size, this.state.members.length)];
      pen.fillText(fill(gettext("clients %(from)s–%(to)s"), { from, to }), 0, HEAD + band * ROW + 11, LEFT - 6);
    }
  }

  #point(x) {
    const selected = Math.floor((x - LEFT) / this.step);
    if (selected === this.selected || selected < 0 || selected >= this.pieces.length) return;
    this.selected = selected;
    this.#say();
    this.paint();
  }

  #say() {
    const piece = this.pieces[this.selected];
    const n = piece.numbers.length;
    this.onSay(piece.key, [
      fill(ngettext("%(n)s queue from here on.", "%(n)s queues from here on.", n), { n }),
      piece.none ? fill(gettext("%(n)s without owner."), { n: piece.none }) : "",
      piece.two ? fill(gettext("%(n)s with two owners."), { n: piece.two }) : "",
      piece.unknown ? fill(gettext("%(n)s unknown."), { n: piece.unknown }) : "",
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
  const found = { held: of("held"), none: of("none"), two: of("two"), noneInk: of("none-ink"), twoInk: of("two-ink"), ink: of("ink"), dim: of("ink-3"), line: of("line-strong") };
  const style = getComputedStyle(document.documentElement);
  probe.remove();
  return { ...found, sans: style.getPropertyValue("--sans"), mono: style.getPropertyValue("--mono") };
}
