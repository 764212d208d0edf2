// A group's state in words; `dashboard/groups/words.py` says the same, `tests/words/` holds both to it.
import { fill, gettext, ngettext } from "./words.js";
import { span } from "./time.js";

export function stateOf(row) {
  const say = (kind, text, more = {}) => ({ kind, words: fill(text, { ...row, ...more }) });
  if (row.rebalanced_at === null || row.queues === null) return say("unknown", gettext("not looked at yet"));
  if (row.members === null) return say("unknown", gettext("unknown who is a member"));
  if (row.doubles) return say("two", twoOwnersAndNone(row));
  if (row.members === 0) return say(row.queues ? "none" : "unknown", gettext("no members"));
  if (row.orphans) return say("none", row.perhaps_orphans ? noOwnerAtLeast(row.orphans) : noOwner(row.orphans), { n: row.orphans });
  if (row.perhaps_twice) return say("unknown", perhapsTwo(row.perhaps_twice), { n: row.perhaps_twice });
  const proxied = row.proxied ?? 0;
  if (row.silent > proxied) return say("unknown", ...notAnswering(row.silent - proxied, row.unasked ?? 0));
  if (row.partial) return say("unknown", askedInPart(row.partial), { n: row.partial });
  if (proxied && proxied !== row.members) return say("unknown", throughProxies(proxied), { n: proxied });
  if (row.untold) return say("unknown", gettext("unknown whether others are members"));
  if (row.disputed) return say("unknown", disagree(row.disputed), { n: row.disputed });
  if (row.orphans === null || row.doubles === null) return say("unknown", gettext("unknown who holds what since the last change"));
  if (isShared(row)) return say("quiet", gettext("each member has all queues"));
  if (row.is_behind) return say("unknown", gettext("a newer change is being computed"));
  if (row.is_converged === null) return say("unknown", gettext("unknown who should have what"));
  if (!row.is_converged) return say("moving", gettext("rebalancing"));
  return say("quiet", asWanted(row.queues, row.popping ?? 0, proxied));
}

function asWanted(queues, popping, proxied) {
  if (queues && popping) return gettext("held as wanted; POP: %(popping)s of %(members)s members");
  if (queues) return gettext("held as wanted");
  if (popping && proxied) return gettext("POP and through a proxy: no queues that members own");
  if (popping) return gettext("POP: no queues that members own");
  return proxied ? gettext("no queues that members own: all come through a proxy") : gettext("no queues that members own");
}

/** Whether the row's figures are what is known at least: somebody does not tell all, or has not told again. */
export const isBound = ({ silent, proxied = 0, partial, untold, perhaps_twice: perhaps }) => Boolean(silent > proxied || partial || untold || perhaps);

const askedInPart = (n) =>
  ngettext(
    "%(n)s of %(members)s members has several connections, of which only one can be asked",
    "%(n)s of %(members)s members have several connections each, of which only one can be asked",
    n,
  );

const throughProxies = (n) =>
  ngettext(
    "%(n)s of %(members)s members comes through a proxy, and cannot be asked",
    "%(n)s of %(members)s members come through a proxy, and cannot be asked",
    n,
  );

/** How many have two owners, and how many none: what stands still is no less grave. */
function twoOwnersAndNone(row) {
  const two = fill(twoOwners(row.doubles, isBound(row)), { n: row.doubles, queues: row.queues });
  if (!row.orphans) return two;
  return fill(row.perhaps_orphans ? gettext("%(two)s, at least %(n)s without owner") : gettext("%(two)s, %(n)s without owner"), { two, n: row.orphans });
}

const twoOwners = (n, isAtLeast) =>
  isAtLeast
    ? ngettext("at least %(n)s of %(queues)s queues with two owners", "at least %(n)s of %(queues)s queues with two owners", n)
    : ngettext("%(n)s of %(queues)s queues with two owners", "%(n)s of %(queues)s queues with two owners", n);

const perhapsTwo = (n) =>
  ngettext(
    "%(n)s of %(queues)s queues perhaps with two owners: not all have answered since",
    "%(n)s of %(queues)s queues perhaps with two owners: not all have answered since",
    n,
  );

/** How many were asked and do not answer, and how many nobody has asked yet. */
function notAnswering(all, unasked) {
  const silent = all - unasked;
  if (!silent) return [ngettext("%(unasked)s of %(members)s members not asked yet", "%(unasked)s of %(members)s members not asked yet", unasked)];
  const words = unasked
    ? ngettext(
        "%(silent)s of %(members)s members does not answer, %(unasked)s not asked yet",
        "%(silent)s of %(members)s members do not answer, %(unasked)s not asked yet",
        silent,
      )
    : ngettext("%(silent)s of %(members)s members does not answer", "%(silent)s of %(members)s members do not answer", silent);
  return [words, { silent }];
}

const noOwnerAtLeast = (n) =>
  ngettext("at least %(n)s of %(queues)s queues without owner", "at least %(n)s of %(queues)s queues without owner", n);

const disagree = (n) =>
  ngettext("NameServers disagree on %(n)s of %(queues)s queues", "NameServers disagree on %(n)s of %(queues)s queues", n);

export const noOwner = (n) =>
  ngettext("%(n)s of %(queues)s queues without owner", "%(n)s of %(queues)s queues without owner", n);

export function causeWords(cause) {
  return (
    {
      "member joined": gettext("member joined"),
      "member left": gettext("member left"),
      "heartbeat expired": gettext("heartbeat expired"),
      "subscription changed": gettext("subscription changed"),
      "route changed": gettext("route changed"),
      "broker gone": gettext("broker gone"),
      "broker back": gettext("broker back"),
      "strategy changed": gettext("strategy changed"),
      "config changed": gettext("config changed"),
      "plan changed": gettext("plan changed"),
      "held changed": gettext("held changed"),
      manual: gettext("manual"),
      "many at once": gettext("several members at once"),
    }[cause] ?? gettext("unknown")
  );
}

/** How a group's queues are divided: by its strategy, of which members that differ have several; or not at all. */
export const divisionWords = (row) => (isShared(row) ? gettext("broadcasting") : strategyWords(row.strategy));

/** Whether each member has all queues: nothing is divided. */
export const isShared = ({ model }) => model === "BROADCASTING";

/** How the latest round stands: open for how long, or how long ago it ended. */
export function roundWhen(row, now) {
  if (row.round_opened_at === null) return "";
  const open = now - row.round_opened_at;
  if (row.round_closed_at === null) {
    return fill(open < NOT_CONVERGED_MS ? gettext("open for %(span)s") : gettext("not converged, open for %(span)s"), { span: span(open) });
  }
  const ago = fill(gettext("%(span)s ago"), { span: span(now - row.round_closed_at) });
  const isLeft = row.members === 0; // what all have left moved to nobody
  return row.round_moves === null || isLeft ? ago : `${ago}, ${fill(gettext("%(n)s moved"), { n: row.round_moves })}`;
}

const NOT_CONVERGED_MS = 120000; // as `rebalance_engine/rounds.py` has it

/** A group's strategy; members that differ have several. */
export const strategyWords = (name) => (name.startsWith(MIXED) ? fill(gettext("mixed: %(names)s"), { names: name.slice(MIXED.length) }) : name);

const MIXED = "mixed: "; // as `dashboard/groups/rules.py` writes it
