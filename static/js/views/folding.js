// On a phone, sections that are not looked at first are folded: their headings are buttons. What is wider shows them all.
// Sections are replaced while they are looked at; which of them are open stays.
const NARROW = "(max-width: 700px)";

export function mountFolding(page) {
  const main = page.querySelector("main");
  const narrow = matchMedia(NARROW);
  const open = new Set();
  const asked = location.hash && page.getElementById(location.hash.slice(1))?.closest("[data-fold]");
  if (asked) open.add(keyOf(asked)); // who follows a link to a section wants to see it
  let focused = null; // the section whose button was focused last

  function dress() {
    for (const section of main.querySelectorAll("[data-fold]")) {
      const button = buttonOf(section, narrow.matches);
      const isOpen = open.has(keyOf(section));
      button?.setAttribute("aria-expanded", String(isOpen));
      section.toggleAttribute("data-open", isOpen);
      if (button && focused === keyOf(section) && page.activeElement === page.body) button.focus({ preventScroll: true });
    }
  }

  function toggle({ target }) {
    const section = target.closest?.(".fold")?.closest("[data-fold]");
    if (!section) return;
    const key = keyOf(section);
    if (!open.delete(key)) open.add(key);
    dressAnew();
  }

  function dressAnew() {
    dress();
    dispatchEvent(new Event("resize")); // what is drawn to the width of its place had none
  }

  dress();
  main.addEventListener("click", toggle);
  main.addEventListener("focusin", ({ target }) => (focused = target.matches(".fold") ? keyOf(target.closest("[data-fold]")) : null));
  narrow.addEventListener("change", dressAnew);
  new MutationObserver(() => narrow.matches && dress()).observe(main, { childList: true, subtree: true });
}

const keyOf = (section) => section.dataset.part ?? section.id;

/** The button in a section's heading, made or taken away; null where there is none. */
function buttonOf(section, isNarrow) {
  const heading = section.querySelector(":scope > h2");
  const button = heading?.querySelector(".fold") ?? null;
  if (!heading || isNarrow === Boolean(button)) return button;
  if (button) {
    button.replaceWith(button.textContent);
    return null;
  }
  const made = section.ownerDocument.createElement("button");
  Object.assign(made, { type: "button", className: "fold", textContent: heading.firstChild.textContent.trim() });
  heading.firstChild.replaceWith(made);
  return made;
}
