// Orders: forms are sent without leaving the page, and what became of them is asked for until it is known.
import { gettext } from "../lib/words.js";
import { refreshParts } from "./live.js";
import { awaitAnswer } from "./waiting.js";

const EVERY_MS = 700;
const LONGEST_MS = 60000; // the server ends an order long before
const ANSWERED_WITHIN_MS = 30000; // a server whose database is locked says so after 8 s

/** Send the page's order forms; `url` gives the part that tells what became of them. */
export function mountOrders(page, url) {
  let timer = null;
  let until = 0;

  async function look() {
    timer = null;
    await refreshParts(page, url).catch(() => {});
    watch();
  }

  function watch({ anew = false } = {}) {
    if (anew) until = Date.now() + LONGEST_MS;
    const isOpen = page.querySelector('[data-part="orders"] [data-open]') !== null;
    if (isOpen && Date.now() < until) timer ??= setTimeout(look, EVERY_MS);
  }

  async function send(event) {
    const form = event.target.closest("form[data-order]");
    if (!form) return;
    event.preventDefault();
    const button = event.submitter;
    button?.setAttribute("disabled", "");
    const answered = awaitAnswer(form, button);
    const words = await order(form);
    answered();
    button?.removeAttribute("disabled");
    const wrong = form.querySelector('[role="alert"]');
    wrong.hidden = !words;
    wrong.textContent = words;
    if (words) return;
    form.reset();
    const details = form.closest("details");
    if (details) details.open = false;
    await look();
    watch({ anew: true });
  }

  const onOut = () => {
    for (const each of page.querySelectorAll("details.order[open]")) each.open = false;
  };
  page.addEventListener("submit", send);
  page.addEventListener("evenkeel:out", onOut);
  watch({ anew: true });
  return () => clearTimeout(timer);
}

/** Why it was not ordered; empty: it was. */
async function order(form) {
  const answer = await fetch(form.action, { method: "POST", body: new FormData(form), headers: { Accept: "application/json" }, signal: AbortSignal.timeout(ANSWERED_WITHIN_MS) }).catch(() => null);
  if (answer === null) return gettext("The server does not answer; it is not known whether this was ordered.");
  if (answer.redirected) return gettext("Logged out: load the page to log in again.");
  if (answer.ok) return "";
  const said = await answer.json().catch(() => null);
  return said?.refused ?? gettext("This was not ordered: you may not, or the page is too old. Load it again.");
}
