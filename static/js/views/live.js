// Opens the page's socket, and asks the server for what it does not push.
import { Socket } from "../live/socket.js";

const LONGEST_MS = 10000;

/** `onBack` is called when the line is there again after it was away: what was asked for meanwhile got no answer. */
export function openSocket(page, asOf, { onBack = () => {} } = {}) {
  const url = new URL(page.body.dataset.live, location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const socket = new Socket(url.href, { onStatus });
  let wasAway = false;
  function onStatus(status) {
    asOf.status(status);
    if (status === "open" && wasAway) onBack();
    wasAway = status === "away";
  }
  socket.open();
  globalThis.evenkeel = { socket }; // for whoever wants to look, or cut it
  return socket;
}

/** Ask the server. Throws where it does not answer, or is in trouble: ask again. */
async function ask(url, type, signal) {
  const answer = await fetch(url, { headers: { Accept: type }, signal });
  if (answer.status >= 500 || answer.status === 429) throw new Error(`${url} is answered with ${answer.status}`);
  return answer;
}

/** What an answer says of who asked: `open`, `refused` where there is no permission, or it is not there, `logged out`. */
export const standing = ({ ok, status, redirected }) => (redirected || status === 401 ? "logged out" : ok ? "open" : "refused");

/** Replace parts of the page by the server's newer ones. What is open or focused in them stays so. Gives `standing`; throws as `ask`. */
export async function refreshParts(page, url, signal) {
  const answer = await ask(url, "text/html", signal);
  if (standing(answer) !== "open") return standing(answer);
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of fresh.querySelectorAll("[data-part]")) {
    const old = page.querySelector(`[data-part="${part.dataset.part}"]`);
    if (!old || old.contains(page.activeElement)) continue;
    const open = [...old.querySelectorAll("details")].map((each) => each.open);
    part.querySelectorAll("details").forEach((each, i) => (each.open = open[i] ?? false));
    old.replaceWith(page.adoptNode(part));
  }
  return "open";
}

/** Ask the server for JSON; null where it does not answer with it. Throws as `ask`. */
export async function getJson(url) {
  const answer = await ask(url, "application/json");
  return standing(answer) === "open" ? answer.json() : null;
}

/**
 * Call `work` once after a burst of calls, at most once in `ms` or so; pages spread themselves by chance. Work that
 * fails is done again, after ever longer waits, until it succeeds or `end()` is called.
 */
export function gather(work, ms) {
  let timer = null;
  let failures = 0;
  let isEnded = false;

  async function run() {
    timer = null;
    try {
      await work();
      failures = 0;
    } catch {
      failures++;
      begin();
    }
  }

  function begin() {
    if (!isEnded) timer ??= setTimeout(run, Math.min(LONGEST_MS, ms * 2 ** failures) * (0.5 + Math.random()));
  }

  function call() {
    if (failures) {
      clearTimeout(timer); // there is news: do not wait as long as after a failure
      timer = null;
      failures = 0;
    }
    begin();
  }
  call.end = () => {
    isEnded = true;
    clearTimeout(timer);
  };
  return call;
}
