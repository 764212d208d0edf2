// Opens the page's socket.
import { Socket } from "../live/socket.js";

export function openSocket(page, asOf) {
  const url = new URL(page.body.dataset.live, location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const socket = new Socket(url.href, { onStatus: (status) => asOf.status(status) });
  socket.open();
  globalThis.evenkeel = { socket }; // for whoever wants to look, or cut it
  return socket;
}

/** Replace parts of the page by the server's newer ones. What is open or focused in them stays so. */
export async function refreshParts(page, url) {
  const answer = await fetch(url, { headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of fresh.querySelectorAll("[data-part]")) {
    const old = page.querySelector(`[data-part="${part.dataset.part}"]`);
    if (!old || old.contains(page.activeElement)) continue;
    const open = [...old.querySelectorAll("details")].map((each) => each.open);
    part.querySelectorAll("details").forEach((each, i) => (each.open = open[i] ?? false));
    old.replaceWith(page.adoptNode(part));
  }
}

/** Ask the server for JSON; null where it does not answer with it, as after a log-out. */
export async function getJson(url) {
  const answer = await fetch(url, { headers: { Accept: "application/json" } }).catch(() => null);
  return answer?.ok && !answer.redirected ? answer.json() : null;
}

/** Call `work` once after a burst of calls, at most once in `ms` or so; pages spread themselves by chance. */
export function gather(work, ms) {
  let timer = null;
  return () => {
    timer ??= setTimeout(
      () => {
        timer = null;
        work();
      },
      ms * (0.5 + Math.random()),
    );
  };
}
