// Who has told nothing for longer than it is asked: it may not answer, which is known only once a question to it has failed. Pure.
import { age } from "./time.js";
import { fill, ngettext } from "./words.js";

const LATE_MS = 6000; // members of a group that is looked at are asked every other second
const PER_MEMBER_MS = 800; // twice what a member of many takes: a broker is asked for two or three a second

/**
 * Since when the members have told nothing that are late, by their ids.
 *
 * `seen`: when each told last what it holds; `since`: when somebody began to look, for nobody is asked so often before, and
 * `until` when their watcher was heard: of what comes after it nothing is known.
 */
export function lateOf(members, seen, now, { since = -Infinity, until = now } = {}) {
  const most = Math.max(LATE_MS, members.length * PER_MEMBER_MS);
  const told = members.filter(({ held }) => held !== null).map(({ client }) => [client, seen?.get(client) ?? null]);
  return new Map(told.filter(([, at]) => at !== null && Math.min(now, until) - Math.max(at, since) > most));
}

/** What is said of them beside all that rests on their word; nothing where there are none. */
export function lateWords(members, seen, now, heard = {}) {
  const late = lateOf(members, seen, now, heard);
  if (!late.size) return "";
  const words = ngettext("%(n)s of %(members)s members has told nothing for %(age)s", "%(n)s of %(members)s members have told nothing for %(age)s", late.size);
  return fill(words, { n: late.size, members: members.length, age: age(now - Math.max(...late.values())) });
}
