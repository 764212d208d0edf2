// The page of producers: times that run out are counted down, and what was told is asked for again every few seconds.
// At a past instant nothing changes; a click in the history leads to the instant that was pointed at.
import { goTo, instantUnder } from "../lib/instant.js";
import { refreshParts } from "./live.js";
import { span } from "../lib/time.js";

const ASK_MS = 5000;

/** How long it still is until an instant, in words; nothing is left after it. */
export const left = (until, now) => span(Math.max(0, until - now));

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
  const tick = () => {
    const now = Date.now() + behind;
    for (const each of page.querySelectorAll("[data-until]")) each.textContent = left(Number(each.dataset.until), now);
  };
  const ask = async () => {
    if (page.hidden) return;
    const asked = Date.now();
    await refreshParts(page, location.href).catch(() => {});
    const now = clockOf(page);
    if (now + 1000 >= asked + behind) behind = now - Date.now();
    tick();
  };
  tick();
  const timers = [setInterval(tick, 200), setInterval(ask, ASK_MS)];
  return () => timers.forEach(clearInterval);
}

const clockOf = (page) => Number(page.querySelector("[data-now]").dataset.now);
