// A round's page: before and after on the same columns, and its lanes.
import { CellMap, align } from "./map.js";
import { TileMap } from "./tiles.js";
import { columnsOf, isLarge } from "../lib/tiles.js";
import { describe } from "../lib/sentence.js";
import { drawLanes } from "./lanes.js";
import { keyOf, order } from "../lib/columns.js";
import { lagsOf } from "../lib/lag.js";
import { judge, movesBetween } from "../lib/owners.js";
import { make } from "../lib/svg.js";
import { noteZoom, sizeOf, zoomOf } from "./picture.js";
import { shown } from "../lib/shown.js";
import { gettext } from "../lib/words.js";

export function mountRound(page) {
  const facts = JSON.parse(page.querySelector("#facts").textContent);
  const says = page.querySelector("#says");
  const extra = { left: [], away: [], seen: null, now: facts.lanes?.now ?? 0 };
  const at = { before: facts.before_at, after: facts.lanes?.closed_at ?? extra.now };
  const lags = Object.fromEntries(Object.entries(facts.lags).map(([name, told]) => [name, lagsOf(told)]));
  const hosts = [...page.querySelectorAll("[data-map]")].filter((host) => facts[host.dataset.map]);
  const areLarge = hosts.some((host) => isLarge(facts[host.dataset.map], sizeOf(facts[host.dataset.map])));
  let maps = [];
  for (const host of page.querySelectorAll("[data-map]")) {
    if (!hosts.includes(host)) host.append(make("p", { class: "dim" }, whyNone(facts.why[host.dataset.map])));
  }

  const tell = (name, words) => says.replaceChildren(make("bdi", { class: "id" }, shown(name, 120)), make("span", {}, words));

  function newMap(host, zoom) {
    if (areLarge && !zoom) return new TileMap(host, { onZoom: zoomTo, onSay: tell });
    const map = new CellMap(host, {
      hasLags: true,
      zoom: zoom ? columnsOf(zoom) : null,
      onPoint: (column, client) => tell(`${column.topic}/${column.broker}/${column.id}`, describe(map.picture, column, client, { now: at[host.dataset.map], lag: lags[host.dataset.map].get(keyOf(column)) ?? null })),
    });
    return map;
  }

  function build() {
    const zoom = zoomOf();
    page.querySelector("[data-of-tiles]").hidden = !areLarge || Boolean(zoom);
    page.querySelector("[data-of-cells]").hidden = areLarge && !zoom;
    page.querySelector('[data-is="out"]').hidden = !zoom;
    maps = hosts.map((host) => newMap(host, zoom));
    paint();
    if (maps.length === 2 && maps[1] instanceof CellMap) maps[1].trace(movesBetween(maps[0].picture, maps[1].picture));
  }

  function paint() {
    const others = areLarge ? [] : hosts.flatMap((host) => queuesIn(facts[host.dataset.map]));
    const update = (map, { map: name }) => map.update(facts[name], { ...extra, others, now: at[name], lags: lags[name] });
    maps.forEach((map, i) => update(map, hosts[i].dataset));
    align(maps, (map) => update(map, map.host.dataset));
    const most = Math.max(...maps.map((map) => map.grid?.most ?? 0));
    for (const map of maps) map.scaleTo?.(most); // one is as dark as the other for as many queues
    drawLanes(page.querySelector('[data-is="lanes"]'), facts.lanes);
  }

  function zoomTo(key) {
    const words = noteZoom(key);
    build();
    tell(key ?? "", words);
  }

  build();
  const out = page.querySelector('[data-is="out"]');
  out.addEventListener("click", () => zoomTo(null));
  page.addEventListener("evenkeel:move", ({ detail: [rows, columns] }) => maps.at(-1)?.move(rows, columns));
  page.addEventListener("evenkeel:enter", () => maps.at(-1)?.open?.());
  page.addEventListener("evenkeel:out", () => zoomOf() && zoomTo(null));
  page.addEventListener("evenkeel:theme", () => maps.forEach((map) => map.paint?.()));
  addEventListener("resize", paint);
  return () => removeEventListener("resize", paint);
}

/** The queues of a state, each where the other map has it too, though it may not. */
const queuesIn = (state) => order(judge(state).queues, state.strays);

/** Why there is no map: of before the first round none was drawn, of others something was lost. */
function whyNone(why) {
  if (why === "large") return gettext("Too large for a map; the table of handoffs says what moved.");
  if (why === "first") return gettext("This is the first round that was seen of this group: there is no map of before. What is known of who held what stands in the handoffs and in the loads.");
  return gettext("How it was is not known.");
}
