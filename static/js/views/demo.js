// The demo's page: what was ordered of it and what became of that, and how many members its groups have now.
import { AsOf } from "./as-of.js";
import { Follower } from "../live/follower.js";
import { mountOrders } from "./orders.js";
import { gather, openSocket, refreshParts } from "./live.js";
import { shown } from "../lib/shown.js";
import { strategyWords } from "../lib/state.js";

export function mountDemo(page) {
  const facts = JSON.parse(page.querySelector("#facts").textContent);
  const asOf = new AsOf(page, { now: facts.now, watched: { [facts.stream]: facts.watched_at }, aside: facts.is_aside ? [facts.stream] : [] });
  const state = new Map(facts.rows.map((row) => [row.id, row]));

  function take({ id, members, strategy }) {
    const row = page.querySelector(`tr[data-id="${id}"]`);
    if (!row) return;
    row.querySelector('[data-is="members"]').textContent = members ?? "–";
    row.querySelector('[data-is="strategy"]').textContent = shown(strategyWords(strategy), 60);
  }

  let standing = facts.is_aside ? "aside" : "watched";
  const refresh = gather(() => refreshParts(page, location.href), 300);

  /** What can be ordered is another thing once its cluster is put aside, or watched again; of one that is gone nothing can. */
  function stand(now) {
    if (!now || now === standing) return;
    standing = now;
    if (now !== "gone") refresh();
    else for (const button of page.querySelectorAll("form[data-order] button")) button.disabled = true;
  }

  function onMessage(message, result) {
    asOf.heard(message);
    stand(message.standing);
    if (result === "applied") for (const row of message.rows ?? message.put) take(row);
  }

  const endOrders = mountOrders(page, `${location.pathname}?part=orders`);
  const socket = openSocket(page, asOf);
  socket.follow(new Follower(facts.stream, { seq: facts.seq, state }), onMessage);
  return () => {
    endOrders();
    refresh.end();
    asOf.close();
    socket.close();
  };
}
