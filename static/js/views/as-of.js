// As of when, and of which change: live is quiet, stale says its age and greys the picture out, away says that the page is not connected.
import { age, clock } from "../lib/time.js";
import { fill, gettext } from "../lib/words.js";

const STALE_MS = 20000;

export class AsOf {
  #host;
  #page;
  #offset;
  #watched = new Map();
  #changes = new Map();
  #isConnected = false;
  #heardAt;
  #ended = null;
  #timer;

  /** `changes` are the numbers of the newest steps that are shown, by their streams. */
  constructor(page, { now, watched, changes = {} }) {
    this.#page = page;
    this.#host = page.querySelector("#as-of");
    this.#offset = now - Date.now();
    this.#heardAt = now;
    for (const [stream, at] of Object.entries(watched)) this.#watched.set(stream, at);
    for (const [stream, seq] of Object.entries(changes)) this.#changes.set(stream, seq);
    this.#timer = setInterval(() => this.show(), 1000);
    this.show();
  }

  /** The server's time. */
  now() {
    return Date.now() + this.#offset;
  }

  status(status) {
    this.#isConnected = status === "open";
    this.#ended = status === "logged out" || status === "refused" ? status : null;
    this.show();
  }

  heard(message) {
    if (message.kind === "pulse") this.#offset = message.at - Date.now();
    this.#heardAt = this.now();
    if (message.kind !== "pulse") return;
    this.#watched.set(message.stream, message.watched_at);
    this.show();
  }

  /** What is shown has come to a step of a stream. */
  cameTo(stream, seq) {
    this.#changes.set(stream, seq);
    this.show();
  }

  /** Whether what is shown may be old: nothing of the cluster answers, or this page does not hear of it. */
  mode() {
    if (!this.#isConnected) return "away";
    return [...this.#watched.values()].some((at) => at === null || this.now() - at > STALE_MS) ? "stale" : "live";
  }

  show() {
    const mode = this.mode();
    const words = { live: gettext("Live"), stale: gettext("Stale"), away: gettext("Not connected") };
    const put = (name, text) => {
      const element = this.#host.querySelector(`[data-is="${name}"]`);
      if (element && element.textContent !== text) element.textContent = text;
    };
    this.#host.dataset.mode = mode;
    this.#page.body.classList.toggle("stale", mode !== "live");
    put("mode", words[mode]);
    put("now", clock(mode === "away" ? this.#heardAt : this.now()));
    if (this.#changes.size) put("change", [...this.#changes.values()].join(", "));
    put("age", this.#age(mode));
  }

  close() {
    clearInterval(this.#timer);
  }

  #age(mode) {
    if (this.#ended === "logged out") return gettext("Logged out: load the page to log in again.");
    if (this.#ended === "refused") return gettext("This page is not for you any more.");
    if (mode === "away") return fill(gettext("nothing heard for %(age)s, trying again"), { age: age(this.now() - this.#heardAt) });
    if (mode === "live") return "";
    const times = [...this.#watched.values()];
    if (times.includes(null)) return gettext("nothing of this cluster has answered yet");
    return fill(gettext("last answer %(age)s ago"), { age: age(this.now() - Math.min(...times)) });
  }
}
