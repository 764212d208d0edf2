// A dry run's page: what is held and what would be, on the same columns; the crosshair is on both. A large map is tiles,
// the same ones twice, and one of them in cells after a click.
import { CellMap, align } from "./map.js";
import { HELD, PLANNED, asMap, describePlan } from "../lib/planned.js";
import { TileMap } from "./tiles.js";
import { count } from "../live/runs.js";
import { columnsOf, isLarge } from "../lib/tiles.js";
import { make } from "../lib/svg.js";
import { setQuery } from "../lib/query.js";
import { shown } from "../lib/shown.js";
import { gettext } from "../lib/words.js";

const READABLE = 20; // px of a cell; where maps beside each other have narrower ones, one stands above the other
export const NOTHING_AROUND = { left: [], away: [], seen: new Map(), now: 0 };

export function mountPlan(page) {
  const { picture } = JSON.parse(page.querySelector("#facts").textContent);
  const hosts = [...page.querySelectorAll("[data-map]")];
  if (!picture) {
    const words = gettext("Too large for a map; the table below, the CSV and the JSON say what moves.");
    for (const host of hosts) host.append(make("p", { class: "dim" }, words));
    return undefined;
  }
  const says = page.querySelector("#says");
  const queues = picture.queues.reduce((sum, part) => sum + count(part.ids), 0);
  const both = page.querySelector(".maps");
  const isWide = "wide" in both.dataset; // as the server knows, whatever room there is
  let maps = [];
  let shape = null; // which maps these are: a piece in cells, "tiles", or all in cells

  function paint() {
    const zoom = new URLSearchParams(location.search).get("zoom");
    const wanted = zoom ?? (isLarge(picture, queues) ? "tiles" : "");
    if (wanted !== shape) maps = hosts.map((host) => newMap(host, wanted));
    shape = wanted;
    page.querySelector("[data-of-tiles]").hidden = wanted !== "tiles";
    const update = (map) => map.update(asMap(picture, map.grammar), NOTHING_AROUND);
    both.toggleAttribute("data-wide", isWide);
    maps.forEach(update);
    if (maps.some((map) => map.layout?.cell < READABLE)) {
      both.toggleAttribute("data-wide", true);
      maps.forEach(update);
    }
    align(maps, update);
    if (wanted !== "tiles") return;
    const most = Math.max(...maps.map((map) => map.grid.most));
    for (const map of maps) map.scaleTo(most);
  }

  function newMap(host, wanted) {
    const grammar = host.dataset.map === "held" ? HELD : PLANNED;
    if (wanted !== "tiles") return new CellMap(host, { zoom: wanted ? columnsOf(wanted) : null, grammar, onPoint: point });
    return new TileMap(host, { grammar, onZoom: zoomTo, onSay: (key, words) => put(says, key, words), onPoint: pointPiece });
  }

  function point(column, client) {
    for (const map of maps) map.showPoint(column, client);
    say(says, column, describePlan(maps[0].picture, column, client));
  }

  /** Both maps mark the piece that one of them points at. What would be is told, whichever it was. */
  function pointPiece(number, band) {
    for (const map of maps) map.showPiece(number, band);
    maps.at(-1).say();
  }

  function zoomTo(key) {
    setQuery({ zoom: key });
    paint();
    put(says, key, key ? gettext("Esc leads back to all queues.") : gettext("Point at a tile, or use the arrow keys."));
  }

  paint();
  says.textContent = shape === "tiles" ? gettext("Point at a tile, or use the arrow keys.") : gettext("Point at a cell, or use the arrow keys.");
  const onMove = ({ detail: [rows, columns] }) => maps.at(-1)?.move(rows, columns);
  const onOut = () => {
    if (shape !== "tiles" && shape !== "") zoomTo(null);
  };
  page.addEventListener("evenkeel:move", onMove);
  page.addEventListener("evenkeel:out", onOut);
  page.addEventListener("evenkeel:enter", () => maps.at(-1)?.open?.());
  page.addEventListener("evenkeel:theme", () => maps.forEach((map) => map.paint?.()));
  addEventListener("resize", paint);
  return () => removeEventListener("resize", paint);
}

/** Say something of a queue. */
export function say(says, { topic, broker, id }, words) {
  put(says, `${topic}/${broker}/${id}`, words);
}

function put(says, name, words) {
  says.replaceChildren(...(name ? [make("bdi", { class: "id" }, shown(name, 120))] : []), make("span", {}, words));
}
