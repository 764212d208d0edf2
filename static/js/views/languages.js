// Whoever chooses another language comes back to where the page is now: views write what they show into the address.
import { settleQuery } from "../lib/query.js";

export function mountLanguages(page) {
  page.addEventListener("submit", ({ target }) => {
    if (!target.matches("form[data-stays]")) return;
    settleQuery();
    target.elements.next.value = location.pathname + location.search;
  });
}
