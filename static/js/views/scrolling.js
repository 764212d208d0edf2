// What is wider than its place says so: its edges fade where more follows, and a table can be entered by keyboard.
import { fill, gettext } from "../lib/words.js";

const PLACES = ".wide, .map, .lanes, .tiles";

export function mountScrolling(page) {
  const known = new WeakSet();
  const sizes = new ResizeObserver((entries) => {
    for (const place of new Set(entries.map(({ target }) => target.closest(PLACES)))) if (place) mark(place);
  });

  function look() {
    for (const place of page.querySelectorAll(PLACES)) {
      if (known.has(place)) continue;
      known.add(place);
      place.addEventListener("scroll", () => mark(place), { passive: true });
      for (const each of [place, ...place.children]) sizes.observe(each);
    }
  }

  look();
  new MutationObserver(look).observe(page.querySelector("main"), { childList: true, subtree: true }); // parts are replaced
}

/** Where more follows: `left`, `right`, both, or nothing. */
export function moreOf({ scrollLeft, scrollWidth, clientWidth }) {
  const ends = { left: scrollLeft > 1, right: scrollLeft + clientWidth < scrollWidth - 1 };
  return Object.keys(ends).filter((end) => ends[end]).join(" ");
}

function mark(place) {
  const more = moreOf(place);
  if (more) place.dataset.more = more;
  else delete place.dataset.more;
  if (!place.matches(".wide")) return; // a map has keys of its own, lanes have a table
  const names = { tabindex: "0", role: "region", "aria-label": fill(gettext("%(what)s, scrolls sideways"), { what: titleOf(place) }) };
  for (const [name, value] of Object.entries(names)) {
    if (more) place.setAttribute(name, value);
    else place.removeAttribute(name);
  }
}

/** What stands above a table. */
function titleOf(place) {
  const title = place.closest("section")?.querySelector("h2, summary")?.firstChild?.textContent.trim();
  return title || gettext("Table");
}
