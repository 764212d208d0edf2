// The overview's search filters while somebody types: the list is asked for a moment after the last letter, and put in the
// place of the one that is shown. The address says what is shown; how many groups fit is told to whoever hears the page.
// Without a script, or by Enter, the form is sent as any other.
import { fill, ngettext } from "../lib/words.js";
import { getPage } from "./live.js";
import { setQuery } from "../lib/query.js";

const PAUSE_MS = 250; // longer than between two letters
const PARTS = ["filters", "sorts", "list"];

/** `take` is called with the facts of each list that was put in place, `note` with whether one could not be had. */
export function mountSearching(page, { take, note }) {
  const form = page.querySelector("form.find");
  const field = form?.querySelector('[name="q"]');
  if (!field) return () => {};
  let shown = field.value.trim();
  let timer = null;
  let asking = null;

  async function find() {
    const wanted = field.value.trim();
    if (wanted === shown) return;
    asking?.abort();
    asking = new AbortController();
    const { signal } = asking;
    const query = new URLSearchParams(location.search);
    query.delete("page");
    if (wanted) query.set("q", wanted);
    else query.delete("q");
    try {
      const fresh = await getPage(`${location.pathname}?${query}`, signal);
      if (signal.aborted) return;
      note(!fresh);
      if (!fresh) return;
      shown = wanted;
      setQuery({ q: wanted || null, page: null });
      take(put(fresh));
    } catch {
      if (!signal.aborted) note(true);
    }
  }

  function put(fresh) {
    for (const part of PARTS) page.querySelector(`[data-found="${part}"]`).replaceWith(page.adoptNode(fresh.querySelector(`[data-found="${part}"]`)));
    const facts = fresh.querySelector("#facts").textContent;
    page.querySelector("#facts").textContent = facts;
    const told = JSON.parse(facts);
    page.querySelector('[data-is="found"]').textContent = fill(ngettext("%(n)s group fits", "%(n)s groups fit", told.found), { n: told.found });
    return told;
  }

  const onInput = () => {
    clearTimeout(timer);
    timer = setTimeout(find, PAUSE_MS);
  };
  field.addEventListener("input", onInput);
  return () => {
    clearTimeout(timer);
    asking?.abort();
    field.removeEventListener("input", onInput);
  };
}
