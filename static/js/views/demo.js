// The demo's page: what was ordered of it and what became of that, and how many members its groups have now.
import { AsOf } from "./as-of.js";
import { Follower } from "../live/follower.js";
import { mountOrders } from "./orders.js";
import { openSocket } from "./live.js";
import { shown } from "../lib/shown.js";
import { strategyWords } from "../lib/state.js";

export function mountDemo(page) {
  const facts = JSON.parse(page.querySelector("#facts").textContent);
  const asOf = new AsOf(page, { now: facts.now, watched: { [facts.stream]: facts.watched_at } });
  const state = new Map(facts.rows.map((row) => [row.id, row]));

  function take({ id, members, strategy }) {
    const row = page.querySelector(`tr[data-id="${id}"]`);
    if (!row) return;
    row.querySelector('[data-is="members"]').textContent = members ?? "–";
    row.querySelector('[data-is="strategy"]').textContent = shown(strategyWords(strategy), 60);
  }

  function onMessage(message, result) {
    asOf.heard(message);
    if (result === "applied") for (const row of message.rows ?? message.put) take(row);
  }

  const endOrders = mountOrders(page, `${location.pathname}?part=orders`);
  const socket = openSocket(page, asOf);
  socket.follow(new Follower(facts.stream, { seq: facts.seq, state }), onMessage);
  return () => {
    endOrders();
    asOf.close();
    socket.close();
  };
}
