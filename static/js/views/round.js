// A round's page: before and after on the same columns, and its lanes.
import { CellMap } from "./map.js";
import { describe } from "../lib/sentence.js";
import { drawLanes } from "./lanes.js";
import { judge, movesBetween } from "../lib/owners.js";
import { make } from "../lib/svg.js";
import { shown } from "../lib/shown.js";
import { gettext } from "../lib/words.js";

const MOST_QUEUES = 1200;

export function mountRound(page) {
  const facts = JSON.parse(page.querySelector("#facts").textContent);
  const says = page.querySelector("#says");
  const maps = [];
  const extra = { left: [], away: [], seen: null, now: facts.lanes?.now ?? 0 };
  for (const host of page.querySelectorAll("[data-map]")) {
    const state = facts[host.dataset.map];
    if (!state) {
      host.append(make("p", { class: "dim" }, whyNone(facts.why[host.dataset.map])));
    } else if (judge(state).queues.length > MOST_QUEUES) {
      host.append(make("p", { class: "dim" }, whyNone("large")));
    } else {
      const map = new CellMap(host, {
        onPoint: (column, client) => says.replaceChildren(make("bdi", { class: "id" }, shown(`${column.topic}/${column.broker}/${column.id}`, 120)),
          make("span", {}, describe(map.picture, column, client, { now: extra.now }))),
      });
      map.update(state, extra);
      maps.push(map);
    }
  }
  const paint = () => drawLanes(page.querySelector('[data-is="lanes"]'), facts.lanes);
  paint();
  if (maps.length === 2) maps[1].trace(movesBetween(maps[0].picture, maps[1].picture));
  const onMove = ({ detail: [rows, columns] }) => maps.at(-1)?.move(rows, columns);
  page.addEventListener("evenkeel:move", onMove);
  addEventListener("resize", paint);
  return () => removeEventListener("resize", paint);
}

/** Why there is no map: of before the first round none was drawn, of others something was lost. */
function whyNone(why) {
  if (why === "large") return gettext("Too large for a map of cells; the table of handoffs says what moved.");
  if (why === "first") return gettext("This is the first round that was seen of this group: there is no map of before. What is known of who held what stands in the handoffs and in the loads.");
  return gettext("How it was is not known.");
}
