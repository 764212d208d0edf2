// When queues had no owner, or two, drawn up to now: what was so when it was read last and is so in the newest state goes on
// until the last look; what follows was not looked at yet. Pure.

const OPEN_MS = 30000; // two owners are known until both told so: that may be this long before it was read

/** What the time bar tells of owners: where every member has every queue there are none to be missing, or one too many. */
export const ownerBands = (isShared) => (isShared ? [] : ["two", "none"]);

/** Until when all members that answer have told what they hold: `seen` are the instants by clients. Null: nobody has. */
export function lookedUntil(members, seen, until) {
  const told = members.filter((cell) => cell.held !== null).map((cell) => seen.get(cell.client)).filter(Boolean);
  return told.length ? Math.min(until, ...told) : null;
}

/** How many have a queue now: `told`, and with those that do not answer and may have let go of it, `most`; by its bars. */
export function ownersNow(bars) {
  const open = bars.filter(([, , to]) => to === null);
  return { told: open.filter(([, , , certain]) => certain === null).length, most: open.length };
}

/** Who had a queue at any time between two instants, each once, in the order in which they took it; by its bars. */
export const ownersBetween = (bars, from, to) => [...new Set(bars.filter(([, at, until]) => at < to && (until ?? Infinity) > from).map(([client]) => client))];

/** A time in parts `[since, until, isKnown]`: within `doubts`, in order, not everybody answered. */
export function inParts(from, to, doubts) {
  const parts = [];
  let at = from;
  for (const [since, until] of doubts) {
    const [low, high] = [Math.max(at, since), Math.min(to, until)];
    if (low >= high) continue;
    if (at < low) parts.push([at, low, true]);
    parts.push([low, high, false]);
    at = high;
  }
  return at < to ? [...parts, [at, to, true]] : parts;
}

/** The steps `[since, until, queues]`, the last one going on until `looked` where `now` queues still are so; null is unknown. */
export function goingOn(steps, { read, looked, now }) {
  const last = steps.at(-1);
  if (!last || !now || looked === null || looked <= last[1] || last[1] < read - OPEN_MS) return steps;
  const [since, until, queues] = last;
  if (queues === now) return [...steps.slice(0, -1), [since, looked, queues]];
  return [...steps, [until, looked, now]];
}

/**
 * The time bar's steps as of now, and from when on nobody looked: `looked`, or null where another part says more of it.
 *
 * `answered`: the cluster's last answer when the bar was read. What was read in a silence tells nothing of what came after
 * that; and of a fault that is there now, or unknown now, and goes on from no step, nobody knows since when it is.
 */
export function asOfNow(time, { looked, orphans, doubles, answered = time.until }) {
  if (looked === null || time.told_until !== null) return { ...time, looked: null };
  const upTo = (at) => Math.max(at, ...[...time.none, ...time.two].map(([, end]) => end));
  if (time.until - answered > OPEN_MS) return { ...time, looked: upTo(Math.min(looked, answered)) };
  const options = { read: time.until, looked };
  const none = goingOn(time.none, { ...options, now: orphans });
  const two = goingOn(time.two, { ...options, now: doubles });
  const isOpen = (now, steps, before) => now !== 0 && steps === before && looked > time.until;
  if (isOpen(orphans, none, time.none) || isOpen(doubles, two, time.two)) return { ...time, looked: upTo(Math.min(looked, time.until)) };
  return { ...time, none, two, looked: upTo(looked) };
}
