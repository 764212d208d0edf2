// A group's page: the map from the state, which pushes keep true; what else there is from the server, gathered.
import { AsOf } from "./as-of.js";
import { CellMap } from "./map.js";
import { Follower } from "../live/follower.js";
import { asOfNow, lookedUntil } from "../lib/bands.js";
import { causeWords, divisionWords, isShared, stateOf } from "../lib/state.js";
import { clock as clockOf } from "../lib/time.js";
import { describe } from "../lib/sentence.js";
import { drawLanes } from "./lanes.js";
import { drawOwners } from "./owner-lanes.js";
import { drawTimeBar } from "./time-bar.js";
import { fill, gettext, ngettext } from "../lib/words.js";
import { gather, getJson, inTurn, openSocket, refreshParts } from "./live.js";
import { goTo } from "../lib/instant.js";
import { isFit, newMap, noteEmpty, noteZoom, sizeOf, zoomOf } from "./picture.js";
import { judge, movesBetween } from "../lib/owners.js";
import { lagsOf } from "../lib/lag.js";
import { lateWords } from "../lib/late.js";
import { make } from "../lib/svg.js";
import { Rates, holdersIn } from "../lib/rates.js";
import { mountGlyphs } from "./glyphs.js";
import { mountOrders } from "./orders.js";
import { keyOf } from "../lib/columns.js";
import { shown } from "../lib/shown.js";
import { queryQueue, setQuerySoon } from "../lib/query.js";
import { rowOf } from "../lib/row.js";

const SO_FAR_MS = 5000; // while somebody has no owner, or two, the page says since how long
const STILL_MS = 60000; // that the group is gone comes with no step
const SETTLING_MS = 30000; // after a silence all is looked at anew, which comes with few steps
const FEW_LANES = 60; // that are drawn anew as time goes on, and not only when something changed

export function mountGroup(page) {
  const facts = JSON.parse(page.querySelector("#facts").textContent);
  const stream = `group-${facts.group}`;
  const asOf = new AsOf(page, { now: facts.around.now, watched: { [stream]: facts.around.watched_at }, changes: facts.snapshot ? { [stream]: facts.snapshot.seq } : {}, isViewed: true, aside: facts.around.is_aside ? [stream] : [] });
  const follower = new Follower(stream, { seq: facts.snapshot?.seq ?? null, state: facts.snapshot?.state ?? null });
  const says = page.querySelector("#says");
  const base = location.pathname;
  let { time, around, lanes } = facts;
  const rates = new Rates();
  let lags = noted(facts.lag);
  let map = null;
  let question = 0;
  let isBehind = Boolean(around.is_behind);
  let standing = facts.around.is_aside ? "aside" : "watched";
  let backAt = -Infinity;

  const extra = () => ({ ...around, seen, heard: asOf.stretch(), lags, rates, now: asOf.now() });
  const seen = new Map(around.seen.map(({ client, at }) => [client, at]));

  /** What brokers told, by queue; and how much was consumed since they told before. */
  function noted(told) {
    if (follower.state) rates.note(told, holdersIn(judge(follower.state)));
    return lagsOf(told);
  }

  function paint() {
    const { state } = follower;
    if (!state) return;
    if (!isFit(map, state)) map = newMap(page, state, { onPoint: point, onSay: say, onZoom: zoomTo, hasLags: true, hasRates: state.head.model !== "BROADCASTING" });
    map.update(state, extra());
    noteEmpty(page, state, map);
    age();
  }

  /** Who is late is told before it is known whether it answers. */
  function age() {
    asOf.noteLate(follower.state && !around.gone_at ? lateWords(follower.state.members, seen, asOf.now(), asOf.stretch()) : "");
  }

  function zoomTo(key) {
    const words = noteZoom(key);
    question++; // of a cell that was pointed at before nothing is said any more
    paint();
    say(key, map instanceof CellMap && !key ? gettext("Point at a cell, or use the arrow keys.") : words);
  }

  function say(id, words) {
    says.replaceChildren(...(id ? [make("bdi", { class: "id" }, shown(id, 120))] : []), make("span", {}, words));
  }

  function point(column, client) {
    const id = `${column.topic}/${column.broker}/${column.id}`;
    const mine = ++question;
    const picture = map.picture;
    setQuerySoon({ queue: id });
    const known = () => ({ now: asOf.now(), away: around.away, seen, heard: asOf.stretch(), lag: lags.get(keyOf(column)) ?? null });
    say(id, describe(picture, column, client, known()));
    setTimeout(async () => {
      if (mine !== question || column.isStray) return;
      const { topic, broker, id: number } = column;
      const answer = await getJson(`${base}queue?${new URLSearchParams({ topic, broker, id: number })}`).catch(() => null);
      const owners = answer?.owners;
      const here = map.at?.()?.[0] ?? column; // its number may be another one by now
      if (owners && mine === question) say(id, describe(map.picture ?? picture, here, client, { ...known(), owners }));
    }, 180);
  }

  function figures() {
    const { state } = follower;
    const put = (name, ...children) => page.querySelector(`#figures [data-is="${name}"]`).replaceChildren(...children);
    const figure = (n, words) => [make("b", {}, String(n)), ` ${words}`];
    const queues = sizeOf(state);
    put("members", ...figure(state.members.length, ngettext("member", "members", state.members.length)));
    put("queues", ...figure(queues, ngettext("queue", "queues", queues)));
    if (divisionWords(state.head)) put("strategy", ...figure(shown(divisionWords(state.head), 80), isShared(state.head) ? "" : state.head.is_strategy_assumed ? gettext("assumed") : gettext("strategy")));
    const element = page.querySelector('#figures [data-is="state"]');
    const gone = { kind: "unknown", words: gettext("gone") };
    const { kind, words } = around.gone_at ? gone : stateOf({ ...rowOf(state, queues), is_behind: isBehind });
    page.body.classList.toggle("is-gone", Boolean(around.gone_at));
    element.className = `is-${kind}`;
    element.textContent = words;
    const fine = page.querySelector('[data-is="fine"]'); // the findings are asked for anew, which takes a while
    if (fine && kind === "unknown") fine.textContent = fill(gettext("Not all is known: %(words)s. In what is known, nothing is found wrong."), { words });
    const round = state.head.round;
    const during = page.querySelector('#as-of [data-is="during"]');
    during.textContent = round && round.closed_at === null ? fill(gettext("during round %(n)s: %(cause)s"), { n: round.number, cause: causeWords(round.cause) }) : "";
  }

  /** What was found and is over does not stand beside a state that is newer: findings are asked for anew, which takes a while. */
  function findings() {
    const kinds = new Set(follower.state?.faults.map(({ kind }) => kind));
    for (const each of page.querySelectorAll('[data-part="faults"] .finding')) {
      if (!kinds.has(each.dataset.kind) && !each.contains(page.activeElement)) each.remove();
    }
  }

  /** Forms offer the members that are there now, and keep what was chosen. */
  function clients() {
    for (const select of page.querySelectorAll("select[data-clients]")) {
      const { value } = select;
      const options = follower.state.members.map(({ client }) => make("option", { value: client }, shown(client, 48)));
      select.replaceChildren(select.options[0], ...options);
      select.value = follower.state.members.some(({ client }) => client === value) ? value : "";
    }
  }

  /** When members told last what they hold comes by pulses: the table says what the map says. */
  function told() {
    const atOf = new Map([...seen].map(([client, at]) => [shown(client), at]));
    for (const place of page.querySelectorAll("[data-told]")) {
      const at = atOf.get(place.dataset.told);
      if (!at || place.dataset.at === String(at)) continue;
      place.dataset.at = at;
      const day = new Date(at).toISOString().slice(0, 10);
      const time = clockOf(at, { millis: true });
      place.replaceChildren(make("time", { datetime: `${day}T${time}Z`, title: `${day} ${time} UTC` }, time));
    }
  }

  /** Until when everybody has been looked at: what follows is not known yet. */
  function looked() {
    const members = follower.state?.members ?? [];
    return members.length ? lookedUntil(members, seen, asOf.now()) : asOf.watchedAt(stream);
  }

  const bar = () => {
    const { orphans = null, doubles = null, model } = follower.state?.head ?? {};
    const sharesAll = isShared({ model });
    const upToNow = asOfNow(time, { looked: looked(), orphans, doubles, answered: around.watched_at ?? time.until });
    drawTimeBar(page.querySelector("#time-bar"), upToNow, { until: asOf.now(), base, isShared: sharesAll, onPick: goTo });
  };
  let owners = null;
  const ownership = () => drawOwners(page.querySelector("#owners"), owners, { until: asOf.now(), looked: looked() });
  /** Whether a handoff, or a round, is not over, or a broker does not answer: what is told of it grows without a step. */
  const isLasting = () => follower.state?.head.are_members_known === false || follower.state?.head.round?.closed_at === null || Boolean(lanes?.lanes.some((lane) => lane.is_waiting || lane.is_shared || lane.is_unknown || lane.is_lasting));
  const handoffs = () => drawLanes(page.querySelector('[data-is="lanes"]'), lanes);

  const refresh = gather(async () => {
    const asks = [getJson(`${base}facts?window=${facts.window}`), refreshParts(page, withPart("side")), getJson(`${base}owners?since=${time.since}`)];
    const [asked, side, lanesAsked] = await Promise.allSettled(asks);
    owners = lanesAsked.value ?? owners;
    const answer = asked.value;
    if (answer) {
      const wasGone = around.gone_at;
      ({ time, around, lanes } = answer);
      if (around.gone_at !== wasGone && follower.state) figures();
      for (const { client, at } of around.seen) seen.set(client, Math.max(at ?? 0, seen.get(client) ?? 0) || null);
    }
    mountGlyphs(page);
    const drawn = { told, findings, bar, lanes: handoffs, owners: ownership, map: paint };
    await inTurn(Object.entries(drawn).map(([part, work]) => () => asOf.keep(part, work)));
    const failed = [asked, side, lanesAsked].find(({ status }) => status === "rejected");
    asOf.note("beside", Boolean(failed));
    if (failed) throw failed.reason; // what is beside the map is older than the map: ask again
  }, 500);

  /** How far the group is behind comes with no step. */
  const measure = gather(async () => {
    try {
      lags = noted((await getJson(`${base}lag`))?.lag ?? []);
      asOf.note("lag", false);
    } catch (error) {
      asOf.note("lag", true);
      throw error;
    }
    asOf.keep("map", paint);
    asOf.keep("owners", ownership);
  }, 500);

  /** Whether something changed that no rebalance has seen yet. */
  function noteBehind(now) {
    if (now === isBehind) return;
    isBehind = now;
    if (follower.state) figures();
  }

  function paintMoves() {
    const before = map instanceof CellMap ? map.picture : null;
    paint();
    if (before && map instanceof CellMap) map.trace(movesBetween(before, map.picture));
  }

  /** Its cluster is put aside, or watched again, or the group was deleted: then there is nothing to ask for any more. */
  function stand(now) {
    if (!now || now === standing) return;
    standing = now;
    if (standing !== "gone") refresh();
    else {
      socket.leave(stream);
      endAsking();
      for (const part of page.querySelectorAll('[data-part="gone"], [data-part="servers"]')) part.replaceChildren(); // that was of before
    }
  }

  /** It answers again: what stands beside the map is of the silence, and is settled within a while. */
  function noteBack(wasSilent) {
    if (!wasSilent || asOf.ageOf(stream) !== null) return;
    backAt = Date.now();
    refresh();
  }

  function endAsking() {
    clearInterval(asking);
    clearInterval(measuring);
    refresh.end();
    measure.end();
  }

  function onMessage(message, result) {
    const wasSilent = asOf.ageOf(stream) !== null;
    asOf.heard(message);
    stand(message.standing);
    noteBack(wasSilent);
    if (message.kind === "pulse") for (const { client, at } of message.seen) if (at) seen.set(client, Math.max(at, seen.get(client) ?? 0));
    if (message.kind === "pulse") asOf.keep("told", told);
    if (message.behind) noteBehind(message.behind.length > 0);
    if (result !== "applied") return;
    isBehind = false;
    asOf.keep("map", paintMoves);
    asOf.keep("figures", figures);
    asOf.keep("findings", findings);
    asOf.keep("clients", clients);
    refresh();
    asOf.cameTo(stream, follower.seq);
    page.body.dataset.seq = follower.seq;
  }

  paint();
  bar();
  handoffs();
  if (follower.state) figures();
  if (map instanceof CellMap) traceMoves(map, around, follower.state);
  const asked = queryQueue();
  if (asked && map instanceof CellMap) map.selectQueue(...asked);
  else if (follower.state) say("", map instanceof CellMap ? gettext("Point at a cell, or use the arrow keys.") : gettext("Point at a tile, or use the arrow keys."));

  const endOrders = mountOrders(page, `${base}orders`);
  refresh(); // owners over time come after the first paint
  const socket = openSocket(page, asOf, { onBack: refresh });
  socket.follow(follower, onMessage);
  const clock = setInterval(() => {
    bar();
    age();
    if (map instanceof CellMap && map.columns.length <= 400) asOf.keep("map", () => map.update(follower.state, extra()));
  }, 1000);
  const measuring = setInterval(() => {
    measure();
    if ((owners?.queues.length ?? 0) <= FEW_LANES) asOf.keep("owners", ownership);
  }, 5000);
  let askedAt = Date.now();
  const asking = setInterval(() => {
    const isSettling = Date.now() - backAt < SETTLING_MS;
    if (Date.now() - askedAt < (isSettling || isLasting() ? SO_FAR_MS : STILL_MS) - 100) return;
    askedAt = Date.now();
    refresh();
  }, SO_FAR_MS);
  const onMove = ({ detail: [rows, columns] }) => map?.move(rows, columns);
  const onOut = () => zoomOf() && zoomTo(null);
  const onResize = () => {
    bar();
    handoffs();
    ownership();
    paint();
  };
  page.addEventListener("evenkeel:move", onMove);
  page.addEventListener("evenkeel:out", onOut);
  page.addEventListener("evenkeel:enter", () => map?.open?.());
  page.addEventListener("evenkeel:theme", () => map?.paint?.());
  addEventListener("resize", onResize);
  return () => {
    clearInterval(clock);
    endAsking();
    endOrders();
    asOf.close();
    socket.close();
    removeEventListener("resize", onResize);
  };
}

function traceMoves(map, around, state) {
  const numbers = new Map(judge(state).queues.map(({ topic, broker, id }, number) => [`${topic}\n${broker}\n${id}`, number]));
  map.trace(around.moves.map((move) => [numbers.get(`${move.topic}\n${move.broker}\n${move.id}`), move.from, move.to]));
}

function withPart(part) {
  const query = new URLSearchParams(location.search);
  query.set("part", part);
  return `${location.pathname}?${query}`;
}
