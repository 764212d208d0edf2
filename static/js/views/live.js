// Opens the page's socket, and asks the server for what it does not push.
import { Socket } from "../live/socket.js";
import { line as thePages } from "../live/line.js";

const LONGEST_MS = 10000;
const NEWS_MS = 5000; // after a failure, whatever comes meanwhile: many pages ask a server that is in trouble

/** `onBack` is called when the line is there again after it was away: what was asked for meanwhile got no answer. */
export function openSocket(page, asOf, { onBack = () => {} } = {}) {
  const url = new URL(page.body.dataset.live, location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const socket = new Socket(url.href, { onStatus });
  let wasAway = false;
  function onStatus(status) {
    asOf.status(status);
    thePages.set(status);
    if (status === "open" && wasAway) onBack();
    wasAway = status === "away";
  }
  thePages.onDoubt = () => socket.doubt();
  addEventListener("offline", () => socket.cut());
  addEventListener("online", () => socket.retry());
  socket.open();
  globalThis.evenkeel = { socket }; // for whoever wants to look, or cut it
  return socket;
}

/** Ask the server. Throws where it does not answer, or is in trouble: ask again. */
async function ask(url, type, signal) {
  const answer = await fetch(url, { headers: { Accept: type }, signal }).catch((error) => {
    if (!signal?.aborted) thePages.doubt();
    throw error;
  });
  if (answer.status >= 500 || answer.status === 429) throw new Error(`${url} is answered with ${answer.status}`);
  return answer;
}

/** What an answer says of who asked: `open`, `refused` where there is no permission, `gone` where it is not there, `logged out`. */
export const standing = ({ ok, status, redirected }) => {
  if (redirected || status === 401) return "logged out";
  if (ok) return "open";
  return status === 404 ? "gone" : "refused";
};

/** Replace parts of the page by the server's newer ones. What is open or focused in them stays so. Gives `standing`; throws as `ask`. */
export async function refreshParts(page, url, signal) {
  const answer = await ask(url, "text/html", signal);
  if (standing(answer) !== "open") return standing(answer);
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of fresh.querySelectorAll("[data-part]")) {
    const old = page.querySelector(`[data-part="${part.dataset.part}"]`);
    if (!old || (old.contains(page.activeElement) && !page.activeElement.matches(".fold"))) continue;
    const open = [...old.querySelectorAll("details")].map((each) => each.open);
    part.querySelectorAll("details").forEach((each, i) => (each.open = open[i] ?? false));
    old.replaceWith(page.adoptNode(part));
  }
  return "open";
}

/** Ask the server for a page; null where it does not answer with it. Throws as `ask`. */
export async function getPage(url, signal) {
  const answer = await ask(url, "text/html", signal);
  return standing(answer) === "open" ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
}

/** Ask the server for JSON; null where it does not answer with it. Throws as `ask`. */
export async function getJson(url) {
  const answer = await ask(url, "application/json");
  return standing(answer) === "open" ? answer.json() : null;
}

/**
 * Call `work` once after a burst of calls, at most once in `ms` or so; pages spread themselves by chance. Work that
 * fails is done again, after ever longer waits, until it succeeds or `end()` is called; news makes them no shorter than
 * `NEWS_MS`. While the line is cut nothing is done, and all of it once it is back.
 */
export function gather(work, ms, line = thePages) {
  let timer = null;
  let failures = 0;
  let failedAt = 0;
  let isEnded = false;

  async function run() {
    timer = null;
    if (line.isCut) {
      failures = 0;
      line.whenBack(begin);
      return;
    }
    try {
      await work();
      failures = 0;
    } catch {
      failures++;
      failedAt = Date.now();
      begin();
    }
  }

  function begin(wait = Math.min(LONGEST_MS, ms * 2 ** failures)) {
    if (!isEnded) timer ??= setTimeout(run, wait * (0.5 + Math.random()));
  }

  function call() {
    if (failures && ms * 2 ** failures > NEWS_MS) {
      clearTimeout(timer); // there is news: do not wait as long as after a failure
      timer = null;
      begin(Math.max(0, failedAt + NEWS_MS - Date.now()));
    } else begin();
  }
  call.end = () => {
    isEnded = true;
    clearTimeout(timer);
  };
  return call;
}

/** Do one thing after the other, each in a task of its own: what is pressed, pointed at or pushed meanwhile comes between. */
export async function inTurn(works) {
  for (const work of works) {
    await new Promise((done) => setTimeout(done));
    work();
  }
}
