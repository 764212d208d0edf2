// A group's page at a past instant: the same map, time bar and lanes, from the server once; nothing changes here.
import { CellMap } from "./map.js";
import { describe } from "../lib/sentence.js";
import { drawLanes } from "./lanes.js";
import { drawOwners } from "./owner-lanes.js";
import { drawTimeBar } from "./time-bar.js";
import { isShared } from "../lib/state.js";
import { getJson } from "./live.js";
import { gettext } from "../lib/words.js";
import { judge } from "../lib/owners.js";
import { make } from "../lib/svg.js";
import { keyOf } from "../lib/columns.js";
import { newMap, noteEmpty, noteZoom, zoomOf } from "./picture.js";
import { lagsOf } from "../lib/lag.js";
import { queryQueue, setQuerySoon } from "../lib/query.js";
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
    setQuerySoon({ queue: id });
    say(id, describe(map.picture, column, client, { now: at, away: around.away, lag: lags.get(keyOf(column)) ?? null }));
  }

  function zoomTo(key) {
    const words = noteZoom(key);
    map = mapOf();
    draw();
    say(key, words);
  }

  const mapOf = () => newMap(page, state, { onPoint: point, onSay: say, onZoom: zoomTo, hasLags: lags.size > 0 });

  function draw() {
    map.update(state, extra);
    noteEmpty(page, state, map);
    drawTimeBar(page.querySelector("#time-bar"), time, { until: time.until, base, isShared: isShared(state.head), at, onPick: goTo });
    drawOwners(page.querySelector("#owners"), owners, { until: time.until, at });
    drawLanes(page.querySelector('[data-is="lanes"]'), lanes);
  }

  map = mapOf();
  draw();
  getJson(`${base}owners?since=${time.since}&until=${time.until}`).then((told) => {
    owners = told;
    draw();
  }, reportError);
  if (map instanceof CellMap) trace();
  const asked = queryQueue();
  if (asked && map instanceof CellMap) map.selectQueue(...asked);
  else say("", map instanceof CellMap ? gettext("Point at a cell, or use the arrow keys.") : gettext("Point at a tile, or use the arrow keys."));

  function trace() {
    const numbers = new Map(judge(state).queues.map(({ topic, broker, id }, number) => [`${topic}\n${broker}\n${id}`, number]));
    map.trace(around.moves.map((move) => [numbers.get(`${move.topic}\n${move.broker}\n${move.id}`), move.from, move.to]));
  }

  const onMove = ({ detail: [rows, columns] }) => map.move(rows, columns);
  page.addEventListener("evenkeel:move", onMove);
  page.addEventListener("evenkeel:out", () => zoomOf() && zoomTo(null));
  page.addEventListener("evenkeel:enter", () => map.open?.());
  page.addEventListener("evenkeel:theme", () => map.paint?.());
  addEventListener("resize", draw);
  return () => removeEventListener("resize", draw);
}
