// A dry run's page: what is held and what would be, on the same columns; the crosshair is on both.
import { CellMap } from "./map.js";
import { HELD, PLANNED, asMap, describePlan } from "../lib/planned.js";
import { make } from "../lib/svg.js";
import { shown } from "../lib/shown.js";
import { gettext } from "../lib/words.js";

export const NOTHING_AROUND = { left: [], away: [], seen: new Map(), now: 0 };

export function mountPlan(page) {
  const { picture } = JSON.parse(page.querySelector("#facts").textContent);
  const hosts = [...page.querySelectorAll("[data-map]")];
  if (!picture) {
    const words = gettext("Too large for a map of cells; the table below, the CSV and the JSON say what moves.");
    for (const host of hosts) host.append(make("p", { class: "dim" }, words));
    return undefined;
  }
  const says = page.querySelector("#says");
  const maps = hosts.map((host) => new CellMap(host, { grammar: host.dataset.map === "held" ? HELD : PLANNED, onPoint: point }));
  const paint = () => maps.forEach((map) => map.update(asMap(picture, map.grammar), NOTHING_AROUND));

  function point(column, client) {
    for (const map of maps) map.showPoint(column, client);
    say(says, column, describePlan(maps[0].picture, column, client));
  }

  paint();
  says.textContent = gettext("Point at a cell, or use the arrow keys.");
  const onMove = ({ detail: [rows, columns] }) => maps.at(-1)?.move(rows, columns);
  page.addEventListener("evenkeel:move", onMove);
  addEventListener("resize", paint);
  return () => removeEventListener("resize", paint);
}

export function say(says, { topic, broker, id }, words) {
  says.replaceChildren(make("bdi", { class: "id" }, shown(`${topic}/${broker}/${id}`, 120)), make("span", {}, words));
}
