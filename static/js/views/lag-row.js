// Below the map: how far the group is behind in each queue, and how that went in the last minute.
import { LONG_MS, addedUp, inShort, lineOf, mostOf, totalOf } from "../lib/lag.js";
import { HARD, age } from "../lib/time.js";
import { draw, make } from "../lib/svg.js";
import { fill, gettext } from "../lib/words.js";

const [NUMBER, TOP, TALL] = [11, 18, 16];
const [PER_LETTER, PER_BOLD, APART] = [6.4, 7.2, 2]; // px

/** Whether a figure has room over its column, next to another one. */
export const hasRoom = (text, isBold, cell) => text.length * (isBold ? PER_BOLD : PER_LETTER) <= cell + APART;

/** Draw a number and a line for each column, and what they add up to; `lags` are those of `lib/lag.js`, null where nothing was told yet. */
export function drawLags({ svg, total }, columns, cell, lags, now) {
  const mine = addedUp(columns, lags);
  const most = mostOf(mine);
  const parts = [];
  columns.forEach(({ x }, i) => {
    const each = mine[i];
    const text = each === null || each.lag === null ? "–" : inShort(each.lag);
    const look = each === null || each.lag === null || each.isOld ? "lag-unknown" : each.lag ? "lag-waits" : "lag-none";
    if (hasRoom(text, look === "lag-waits", cell)) parts.push(draw("text", { class: look, x: x + cell / 2, y: NUMBER, "text-anchor": "middle" }, text));
    const d = each === null || cell < 6 ? null : lineOf(each.looks, { x: x + 1, y: TOP, width: cell - 2, height: TALL, since: now - LONG_MS, until: now, most });
    if (d) parts.push(draw("path", { class: "lag-line", d }));
  });
  svg.replaceChildren(...parts);
  const { lag, isWhole, at } = totalOf(mine);
  const words = lag === null ? "–" : isWhole ? String(lag) : `≥${HARD}${lag}`;
  const figure = make("span", { class: "fig", "data-mark": lag === null ? "unknown" : isWhole ? "exact" : "bound" }, words);
  total.replaceChildren(figure, make("span", {}, at === null ? "" : fill(gettext("told %(age)s ago"), { age: age(now - at) })));
}
