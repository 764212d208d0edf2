// As of when, and of which change: live is quiet, stale says its age and greys the picture out, away says that the page
// is not connected, behind that parts of it are older than the others.
import { age, clock } from "../lib/time.js";
import { fill, gettext, ngettext } from "../lib/words.js";

const STALE_MS = 20000;
export const VIEWED_STALE_MS = 8000; // of a group that is looked at: its watcher says something every 2 s
const LOST_MS = 15000; // the server says something every 10 s
const LATE_MS = 15000; // for so long a word that is late tells nothing of a cluster that answered when it was told of last
const BREAK_MS = 4000; // longer than between two words of a watcher
const ASKING_MS = 20000; // a watcher that has just come learns first who is there, and asks nobody meanwhile
const FRESH_MS = 2000; // so old is its last word before the next
const YOUNG_MS = 10000; // a word of a cluster that answers is of an answer some 4 s old
const OPENING_MS = 2500; // a page that has just come is as new as its line would be, while that opens
const PICTURES = ["map", "producers"]; // parts that are greyed out while they are old

/** Of when is what is shown: of when any cluster of it answered last, or the last was heard, and never of a later time. */
export function shownAt({ now, heard, watched }) {
  const at = heard ?? now;
  if (!watched.length) return at;
  const last = Math.max(...watched.map((each) => each ?? -Infinity));
  return last === -Infinity ? null : Math.min(at, last);
}

export class AsOf {
  #page;
  #offset;
  #watched = new Map();
  #toldAt = new Map(); // when that was told
  #unwatched = new Map(); // `aside` or `gone`, by their streams
  #changes = new Map();
  #isConnected = false;
  #behind = new Set();
  #heardAt;
  #openedAt = -Infinity;
  #beganAt;
  #answeredAt; // when it was heard last that something of it answered
  #steadyFrom; // since when that was so without a break
  #askedFrom = -Infinity; // when a member was heard first since then, or before
  #ended = null;
  #late = "";
  #isViewed;
  #staleMs;
  #timer;

  /**
   * `changes` are the numbers of the newest steps that are shown, by their streams. `isViewed`: it is the page of one
   * group, of which its watcher tells more often. `aside` are the streams of clusters that are put aside already.
   */
  constructor(page, { now, watched, changes = {}, isViewed = false, aside = [] }) {
    this.#page = page;
    this.#isViewed = isViewed;
    this.#staleMs = isViewed ? VIEWED_STALE_MS : STALE_MS;
    this.#offset = now - Date.now();
    this.#heardAt = now;
    this.#beganAt = this.#answeredAt = this.#steadyFrom = now;
    for (const stream of aside) this.#unwatched.set(stream, "aside");
    for (const [stream, at] of Object.entries(watched)) this.#tell(stream, at, now);
    for (const [stream, seq] of Object.entries(changes)) this.#changes.set(stream, seq);
    this.#timer = setInterval(() => this.show(), 1000);
    this.show();
  }

  /** The server's time. */
  now() {
    return Date.now() + this.#offset;
  }

  /** As the line tells it; `gone`: what is shown was deleted, as far as this person may know. */
  status(status) {
    if (status === "gone") for (const stream of this.#watched.keys()) this.#unwatched.set(stream, "gone");
    this.#isConnected = status === "open" || status === "gone";
    if (this.#isConnected) this.#openedAt = this.now();
    this.#ended = status === "logged out" || status === "refused" ? status : null;
    this.show();
  }

  heard(message) {
    if (message.kind === "pulse") this.#offset = message.at - Date.now();
    this.#heardAt = this.now();
    if (message.kind !== "pulse") return;
    const before = this.#isViewed || message.standing === "gone" ? (this.#watched.get(message.stream) ?? null) : null; // of what is told often some comes late
    this.#noteAsked(message.seen ?? []);
    this.#tell(message.stream, before === null ? message.watched_at : Math.max(before, message.watched_at ?? before), message.at);
    if (message.standing) this.#unwatched.set(message.stream, message.standing);
    if (message.standing === "watched") this.#unwatched.delete(message.stream);
    if (message.standing === "gone" && !this.isAllGone()) this.#changes.delete(message.stream); // nothing of it is shown any more
    this.show();
  }

  #tell(stream, watchedAt, at) {
    if (watchedAt > (this.#watched.get(stream) ?? 0)) this.#answered();
    this.#watched.set(stream, watchedAt);
    this.#toldAt.set(stream, at);
  }

  #answered() {
    if (this.now() - this.#answeredAt > BREAK_MS) this.#steadyFrom = this.now();
    this.#answeredAt = this.now();
  }

  #noteAsked(seen) {
    const since = seen.map(({ at }) => at).filter((at) => at > this.#steadyFrom);
    if (this.#askedFrom < this.#steadyFrom && since.length) this.#askedFrom = Math.min(...since);
  }

  /**
   * From when to when members were asked without a break by the watcher of what is shown: it is to have heard of each then.
   * It asks them since one of them was heard, or for so long as it may need to begin.
   */
  stretch() {
    const isAsking = this.#askedFrom >= this.#steadyFrom;
    return { since: isAsking ? this.#askedFrom : this.#steadyFrom + ASKING_MS, until: Math.max(...this.#watched.values()) + FRESH_MS };
  }

  /** What is shown is of these streams alone. */
  keepOnly(streams) {
    for (const stream of this.#watched.keys()) if (!streams.includes(stream)) this.#watched.delete(stream);
  }

  /** What is shown has come to a step of a stream. */
  cameTo(stream, seq) {
    this.#changes.set(stream, seq);
    this.show();
  }

  /** Bring a part up to date. One that fails is told as behind until it succeeds, and keeps no other part old. */
  keep(part, work) {
    try {
      work();
      this.note(part, false);
    } catch (error) {
      this.note(part, true);
      reportError(error);
    }
  }

  /** Whether a part could not be brought up to date. */
  note(part, isBehind) {
    if (isBehind === this.#behind.has(part)) return;
    if (isBehind) this.#behind.add(part);
    else this.#behind.delete(part);
    this.show();
  }

  /** Say, beside all that rests on it, that a part of what is shown as live is older: empty where none is. */
  noteLate(words) {
    if (words === this.#late) return;
    this.#late = words;
    this.show();
  }

  /** Whether what is shown may be old: this page does not hear of it, could not draw it, or no cluster of it answers. */
  mode() {
    if (this.#isLost()) return "away"; // before all else: what fails because of it tells nothing more
    if (this.#behind.size) return "behind";
    return this.#isStale() ? "stale" : "live";
  }

  /** Whether the line is cut, as far as anybody knows: it was closed, or is as silent as it never is. */
  #isLost() {
    if (this.isAllGone()) return false; // nothing is to be heard any more
    if (this.#isOpening() && this.#isUnwatched()) return false; // it tells nothing newer
    return !this.#isConnected || this.now() - Math.max(this.#heardAt, this.#openedAt) > LOST_MS;
  }

  /** Whether all that is shown was deleted. */
  isAllGone() {
    return this.#watched.size > 0 && [...this.#watched.keys()].every((stream) => this.#unwatched.get(stream) === "gone");
  }

  /** Whether nobody is to watch anything of it. */
  #isUnwatched() {
    return this.#watched.size > 0 && [...this.#watched.keys()].every((stream) => this.#unwatched.has(stream));
  }

  /** Whether the line has not been open yet, and the page has just come: nothing of it is old. */
  #isOpening() {
    return !this.#ended && this.#openedAt === -Infinity && this.now() - this.#beganAt < OPENING_MS;
  }

  #isStale() {
    return this.#watched.size > 0 && this.#streams().every((stream) => this.#isSilent(stream));
  }

  /** Those that somebody is to watch; all of them, where none is. */
  #streams() {
    const all = [...this.#watched.keys()];
    const watched = all.filter((stream) => !this.#unwatched.has(stream));
    return watched.length ? watched : all;
  }

  /** Whether the cluster of a stream does not answer, or nobody is to watch it. That a word of it is late does not tell it. */
  #isSilent(stream) {
    const at = this.#watched.get(stream) ?? null;
    if (at === null || this.#unwatched.has(stream)) return true;
    const late = this.#isViewed || this.#toldAt.get(stream) - at > YOUNG_MS ? 0 : LATE_MS;
    return this.now() - at > this.#staleMs + late;
  }

  /** When the cluster of a stream answered last; null: never. */
  watchedAt(stream) {
    return this.#watched.get(stream) ?? null;
  }

  /** How old is what a stream has told, in ms; null while its cluster answers and is heard of, `Infinity`: never did. */
  ageOf(stream) {
    const at = this.#watched.get(stream) ?? null;
    if (at === null) return Infinity;
    const old = this.now() - (!this.#isLost() ? at : Math.min(at, this.#heardAt));
    return this.#isSilent(stream) || (this.#isLost() && old > this.#staleMs) ? old : null;
  }

  show() {
    const mode = this.mode();
    const words = { live: gettext("Live"), stale: gettext("Stale"), behind: gettext("Behind"), away: this.#isOpening() ? gettext("Not live yet") : gettext("Not connected") };
    const host = this.#page.querySelector("#as-of"); // a page may replace it
    const put = (name, text) => {
      const element = host.querySelector(`[data-is="${name}"]`);
      if (element && element.textContent !== text) element.textContent = text;
    };
    host.dataset.mode = mode;
    const isPictureOld = (mode === "away" && !this.#isOpening()) || this.#isStale() || PICTURES.some((part) => this.#behind.has(part));
    this.#page.body.classList.toggle("stale", isPictureOld);
    put("mode", words[mode]);
    const at = shownAt({ now: this.now(), heard: mode !== "away" ? null : this.#heardAt, watched: this.#streams().map((stream) => this.#watched.get(stream)) });
    put("now", at === null ? "–" : clock(at));
    if (this.#changes.size) put("change", [...this.#changes.values()].join(", "));
    put("age", this.#age(mode));
    if (at !== null) this.#count(at);
    const isOld = (mode === "away" || mode === "stale") && at !== null && !(mode === "away" && this.#isOpening());
    const old = isOld ? fill(gettext("as of %(age)s ago"), { age: age(this.now() - at) }) : "";
    for (const element of this.#page.querySelectorAll("[data-aging]")) {
      const words = old || (element.dataset.aging === "kept" ? "" : this.#late); // what is kept of then rests on nobody's word of now
      if (element.textContent !== words) element.textContent = words;
    }
  }

  /** For how long each finding is there, as of what is shown. */
  #count(at) {
    for (const element of this.#page.querySelectorAll("[data-lasts]")) {
      const words = fill(gettext("for %(span)s"), { span: age(at - Number(element.dataset.lasts)) });
      if (element.textContent !== words) element.textContent = words;
    }
  }

  close() {
    clearInterval(this.#timer);
  }

  #age(mode) {
    if (this.#ended === "logged out") return gettext("Logged out: load the page to log in again.");
    if (this.#ended === "refused") return gettext("You have no permission for this page any more.");
    if (mode === "away" && this.#isOpening()) return "";
    if (mode === "away") return fill(gettext("nothing heard for %(age)s, trying again"), { age: age(this.now() - this.#heardAt) });
    if (mode === "behind") return gettext("not all of this page could be brought up to date; trying again with what comes next");
    const silent = this.#streams().filter((stream) => this.#isSilent(stream)).length;
    if (mode === "live") return silent ? fill(ngettext("%(n)s cluster does not answer", "%(n)s clusters do not answer", silent), { n: silent }) : "";
    const ends = this.#streams().map((stream) => this.#unwatched.get(stream));
    if (ends.every(Boolean)) return ends.includes("aside") ? gettext("put aside: nobody watches it any more") : gettext("deleted, or not for you any more: this is how it was last");
    const times = this.#streams().map((stream) => this.#watched.get(stream));
    if (times.every((at) => at === null)) return gettext("nothing of this cluster has answered yet");
    return fill(gettext("last answer %(age)s ago"), { age: age(this.now() - Math.max(...times.map((at) => at ?? 0))) });
  }
}
