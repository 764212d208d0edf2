// A group's page at a past instant: the same map, time bar and lanes, from the server once; nothing changes here.
import { CellMap } from "./map.js";
import { TileMap } from "./tiles.js";
import { count } from "../live/runs.js";
import { describe } from "../lib/sentence.js";
import { drawLanes } from "./lanes.js";
import { drawOwners } from "./owner-lanes.js";
import { drawTimeBar } from "./time-bar.js";
import { getJson } from "./live.js";
import { gettext } from "../lib/words.js";
import { isLarge } from "../lib/tiles.js";
import { judge } from "../lib/owners.js";
import { make } from "../lib/svg.js";
import { keyOf, pieceOf } from "../lib/columns.js";
import { lagsOf } from "../lib/lag.js";
import { queryQueue, setQuery } from "../lib/query.js";
import { goTo } from "../lib/instant.js";
import { shown } from "../lib/shown.js";

export function mountPast(page) {
  const { at, base, state, time, around, lanes, lag } = JSON.parse(page.querySelector("#facts").textContent);
  const says = page.querySelector("#says");
  const lags = lagsOf(lag);
  const extra = { ...around, seen: null, lags, now: at };
  let map = null;
  let owners = null;

  function say(id, words) {
    says.replaceChildren(...(id ? [make("bdi", { class: "id" }, shown(id, 120))] : []), make("span", {}, words));
  }

  function point(column, client) {
    const id = `${column.topic}/${column.broker}/${column.id}`;
    setQuery({ queue: id });
    say(id, describe(map.picture, column, client, { now: at, away: around.away, lag: lags.get(keyOf(column)) ?? null }));
  }

  function zoomTo(key) {
    setQuery({ zoom: key, queue: null });
    map = newMap();
    draw();
  }

  function newMap() {
    const zoom = new URLSearchParams(location.search).get("zoom");
    const queues = state.queues.reduce((sum, part) => sum + count(part.ids), 0);
    const host = page.querySelector("#map");
    if (isLarge(state, queues) && !zoom) return new TileMap(host, { onZoom: zoomTo, onSay: say });
    return new CellMap(host, { zoom: zoom ? pieceOf(zoom) : null, onPoint: point, hasLags: lags.size > 0 });
  }

  function draw() {
    map.update(state, extra);
    drawTimeBar(page.querySelector("#time-bar"), time, { until: time.until, base, at, onPick: goTo });
    drawOwners(page.querySelector("#owners"), owners, { until: time.until, at });
    drawLanes(page.querySelector('[data-is="lanes"]'), lanes);
  }

  map = newMap();
  draw();
  getJson(`${base}owners?since=${time.since}&until=${time.until}`).then((told) => {
    owners = told;
    draw();
  }, reportError);
  if (map instanceof CellMap) trace();
  const asked = queryQueue();
  if (asked && map instanceof CellMap) map.selectQueue(...asked);
  else say("", gettext("Point at a cell, or use the arrow keys."));

  function trace() {
    const numbers = new Map(judge(state).queues.map(({ topic, broker, id }, number) => [`${topic}\n${broker}\n${id}`, number]));
    map.trace(around.moves.map((move) => [numbers.get(`${move.topic}\n${move.broker}\n${move.id}`), move.from, move.to]));
  }

  const onMove = ({ detail: [rows, columns] }) => map.move(rows, columns);
  page.addEventListener("evenkeel:move", onMove);
  page.addEventListener("evenkeel:out", () => zoomTo(null));
  page.addEventListener("evenkeel:enter", () => map.open?.());
  page.addEventListener("evenkeel:theme", () => map.paint?.());
  addEventListener("resize", draw);
  return () => removeEventListener("resize", draw);
}
