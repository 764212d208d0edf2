// The page of producers: times that run out are counted down, and what was told is asked for again every few seconds.
// At a past instant nothing changes; a click in the history leads to the instant that was pointed at.
import { goTo, instantUnder } from "../lib/instant.js";
import { AsOf } from "./as-of.js";
import { refreshParts } from "./live.js";
import { span } from "../lib/time.js";

const ASK_MS = 5000;
const LONGEST_MS = 10000; // without an answer

/** How long it still is until an instant, in words; nothing is left after it. */
export const left = (until, now) => span(Math.max(0, until - now));

/** Whether one of the times ended in (since, now]: the page is to be asked for anew then, not up to 5 s later. */
export const hasEnded = (untils, since, now) => untils.some((until) => since < until && until <= now);

/** The address of the page that goes on about the same producer, though another one has more to say by now. */
export function sameProducer(href, client) {
  const url = new URL(href);
  if (client && !url.searchParams.has("client")) url.searchParams.set("client", client);
  return url.href;
}

export function mountProducers(page) {
  const onPick = (event) => {
    const picture = event.target.closest?.(".producer-history .sent");
    if (!picture) return;
    const { since, untilNow } = picture.closest(".producer-history").dataset;
    goTo(instantUnder(event.clientX, picture.getBoundingClientRect(), Number(since), Number(untilNow)));
  };
  page.addEventListener("click", onPick);
  const end = page.querySelector("[data-past]") ? () => {} : keepTrue(page);
  return () => {
    end();
    page.removeEventListener("click", onPick);
  };
}

function keepTrue(page) {
  let behind = clockOf(page) - Date.now();
  let told = clockOf(page);
  const asOf = new AsOf(page, { now: told, watched: watchedOf(page), aside: asideOf(page) });
  asOf.status("open");
  const tick = () => {
    if (asOf.mode() === "away" || asOf.isAllGone()) return; // what is shown is as it was
    const now = Date.now() + behind;
    const counted = [...page.querySelectorAll("[data-until]")];
    for (const each of counted) each.textContent = left(Number(each.dataset.until), now);
    if (hasEnded(counted.map((each) => Number(each.dataset.until)), told, now)) ask();
    told = now;
  };
  const ask = async () => {
    if (page.hidden) return;
    const [asked, old] = [Date.now(), partOf(page)];
    try {
      const status = await refreshParts(page, sameProducer(location.href, partOf(page).dataset.client), AbortSignal.timeout(LONGEST_MS));
      if (partOf(page) !== old) hear();
      asOf.note("producers", status === "open" && partOf(page) === old); // as while something in it has the focus
      asOf.status(status);
      if (status === "gone") endAsking();
    } catch {
      asOf.status("away");
    }
    const now = clockOf(page);
    if (now + 1000 >= asked + behind) behind = now - Date.now();
    tick();
  };
  const hear = () => {
    const at = clockOf(page);
    asOf.keepOnly(Object.keys(watchedOf(page)));
    const aside = asideOf(page);
    for (const [stream, told] of Object.entries(watchedOf(page))) asOf.heard({ kind: "pulse", stream, at, watched_at: told, standing: aside.includes(stream) ? "aside" : "watched" });
    asOf.show();
  };
  tick();
  page.addEventListener("visibilitychange", ask);
  const timers = [setInterval(tick, 200), setInterval(ask, ASK_MS)];
  const endAsking = () => {
    timers.forEach(clearInterval);
    page.removeEventListener("visibilitychange", ask);
  };
  return () => {
    endAsking();
    asOf.close();
  };
}

const partOf = (page) => page.querySelector("[data-now]");

const clockOf = (page) => Number(partOf(page).dataset.now);

/** When the clusters of the page answered last. */
const watchedOf = (page) => JSON.parse(partOf(page).dataset.watched);

/** Those of them that are put aside. */
const asideOf = (page) => JSON.parse(partOf(page).dataset.aside);
