// A form that the server answers late says so, beside the button that sent it, and is not sent twice.
import { gettext } from "../lib/words.js";

const LATE_MS = 1000;
const GIVEN_UP_MS = 30000; // nothing tells a page that its reader stopped the sending

/** Watch the page's forms that change something; those that scripts send (`data-order`) call `awaitAnswer` themselves. */
export function mountWaiting(page) {
  page.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post" || form.matches("[data-order]") || event.defaultPrevented) return;
    if (form.ariaBusy === "true") event.preventDefault();
    else setTimeout(awaitAnswer(form, event.submitter), GIVEN_UP_MS);
  });
}

/** Say after a second that the answer is awaited; gives what ends that. */
export function awaitAnswer(form, button) {
  const words = document.createElement("span");
  words.className = "waiting";
  words.setAttribute("role", "status"); // empty first: what comes into it is read out
  (button ?? form.lastElementChild).after(words);
  form.ariaBusy = "true";
  const timer = setTimeout(() => {
    words.textContent = gettext("Sent; the server has not answered yet.");
  }, LATE_MS);
  return () => {
    clearTimeout(timer);
    words.remove();
    form.ariaBusy = null;
  };
}
