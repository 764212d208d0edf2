// The map of a page: in cells, or in tiles where there are too many of them; and what stands around it.
import { CellMap } from "./map.js";
import { TileMap } from "./tiles.js";
import { columnsOf, isLarge } from "../lib/tiles.js";
import { count } from "../live/runs.js";
import { gettext } from "../lib/words.js";
import { setQuery } from "../lib/query.js";

const WIDE = 100; // queues: with more of them the map takes the width of the page

export const sizeOf = (state) => state.queues.reduce((sum, part) => sum + count(part.ids), 0);

/** The piece that is shown in cells, by the address; null is all. */
export const zoomOf = () => new URLSearchParams(location.search).get("zoom");

/** Whether a map does for a state and what the address asks for, or another one is needed. */
export const isFit = (map, state) => Boolean(map) && map.zoomKey === zoomOf() && map instanceof TileMap === (isLarge(state, sizeOf(state)) && !map.zoomKey);

/** Make the map that a state needs. `onPoint` is told of a cell, `onSay` of a tile, `onZoom` which piece is wanted in cells. */
export function newMap(page, state, { onPoint, onSay, onZoom, hasLags, hasRates = false }) {
  const zoom = zoomOf();
  const [host, queues] = [page.querySelector("#map"), sizeOf(state)];
  const isTiles = isLarge(state, queues) && !zoom;
  page.querySelector("#picture").toggleAttribute("data-wide", queues > WIDE);
  page.querySelector("[data-of-tiles]").hidden = !isTiles;
  page.querySelector("[data-of-cells]").hidden = isTiles;
  const out = page.querySelector('[data-is="out"]');
  out.hidden = !zoom;
  out.onclick = (event) => {
    event.preventDefault();
    onZoom(null);
  };
  const map = isTiles ? new TileMap(host, { onZoom, onSay }) : new CellMap(host, { zoom: zoom ? columnsOf(zoom) : null, onPoint, hasLags, hasRates });
  map.zoomKey = zoom;
  return map;
}

/** Where no queue has an owner the map is empty: that is told, and marks that cannot be there are not. */
export function noteEmpty(page, state, map) {
  const isEmpty = !sizeOf(state) && !state.strays.length;
  page.querySelector("[data-of-nothing]").hidden = !isEmpty;
  page.querySelector("[data-of-cells]").hidden = isEmpty || map instanceof TileMap;
}

/** Note in the address which piece is shown in cells; gives what to say of it. */
export function noteZoom(key) {
  setQuery({ zoom: key, queue: null });
  return key ? gettext("Members that have nothing to do with these queues may be left out. Esc leads back to all queues.") : gettext("Point at a tile, or use the arrow keys.");
}
