// How old is what a row of the overview shows, in words, and whether it is grey for it. Pure.
// `dashboard/groups/looked.py` says the same of the first paint; `tests/words/looks.json` holds both to it.
import { fill, gettext } from "./words.js";
import { age } from "./time.js";

const OLD_MS = 60000; // twice as long as a watcher takes to ask all members again, where it has few of them to ask

/**
 * `{isOld, short, words}`: for the eye, and for who has it read. `lookedAt` is of when the oldest answer is on which a row
 * rests (null: there is none), `silent` for how long its cluster has not answered (null: it does; `Infinity`: never did).
 */
export function lookWords({ lookedAt, silent, now }) {
  if (silent === Infinity) return { isOld: true, short: gettext("cluster never answered"), words: gettext("nothing of its cluster has answered yet") };
  if (lookedAt === null && silent === null) return { isOld: false, short: "", words: "" };
  const old = Math.max(silent ?? 0, lookedAt === null ? 0 : now - lookedAt);
  const words = fill(gettext("as of %(age)s ago"), { age: age(old) });
  if (silent !== null || old > OLD_MS) return same(words);
  return { isOld: false, short: fill(gettext("%(span)s ago"), { span: age(old) }), words };
}

const same = (words) => ({ isOld: true, short: words, words });
