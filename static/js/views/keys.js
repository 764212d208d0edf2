// One keyboard for all pages. Keys become events; whoever can do something with one listens.
const ARROWS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
const STEPS = { ArrowLeft: "previous change", ArrowRight: "next change" };

export function mountKeys(page) {
  let prefix = null;
  const say = (name, detail) => page.dispatchEvent(new CustomEvent(`evenkeel:${name}`, { detail }));
  const press = (does) => page.querySelector(`[data-does="${does}"]`)?.click();
  const keys = {
    j: () => say("row", 1),
    k: () => say("row", -1),
    Enter: () => say("row", "open"),
    "/": () => search(page),
    "[": () => press("previous round"),
    "]": () => press("next round"),
    o: () => (prefix === "g" ? location.assign(page.querySelector(".mark").href) : press("latest round")),
    p: () => press("plan"),
    l: () => press("live"),
    e: () => press("edit"),
    u: () => say("undo"),
    t: () => switchTheme(page),
    v: () => showTable(page.querySelector("#map-table")),
    "?": () => page.querySelector("#sheet")?.showModal(),
    Escape: () => say("out"),
  };
  page.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (isTyping(event.target)) {
      if (event.key === "Escape") leave(event);
      return;
    }
    if (page.querySelector("dialog[open]")) {
      if (event.key === "?") page.querySelector("dialog[open]").close();
      return;
    }
    if (event.shiftKey && event.key in STEPS && page.querySelector(`[data-does="${STEPS[event.key]}"]`)) {
      event.preventDefault();
      press(STEPS[event.key]);
      return;
    }
    if (event.key in ARROWS && event.target.matches?.("[data-more][role=region]")) return; // it scrolls
    if (event.key in ARROWS && page.querySelector(".map, .tiles")) {
      event.preventDefault();
      say("move", ARROWS[event.key]);
      return;
    }
    if (event.key === "Enter" && (event.target.closest("a, button, summary") || page.querySelector(".tiles"))) {
      if (!event.target.closest("a, button, summary")) say("enter");
      return;
    }
    if (keys[event.key]) {
      event.preventDefault();
      keys[event.key]();
    }
    prefix = event.key === "g" ? "g" : null;
  });
  page.addEventListener("click", (event) => {
    const does = event.target.closest("button[data-does]")?.dataset.does;
    if (does === "theme") switchTheme(page);
    if (does === "help") page.querySelector("#sheet")?.showModal();
    if (does === "search") search(page);
    if (event.target.id === "sheet") event.target.close();
  });
  page.addEventListener("toggle", ({ target }) => target.matches?.("details.order[open]") && enter(target), true);
  if (location.hash === "#search") search(page);
}

const isTyping = (target) => target.matches?.("input, textarea, select") ?? false;

/** Leave a field; one to search is emptied, as Chromium does it too late for whoever listens: the field is left by then. */
function leave(event) {
  const field = event.target;
  if (field.type === "search" && field.value) {
    event.preventDefault();
    field.value = "";
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
  field.blur();
}

/** Who opens a form by its summary goes on in it: what is typed then is no key of the page. */
function enter(details) {
  if (details.firstElementChild !== details.ownerDocument.activeElement) return;
  details.querySelector("input:not([type=hidden]), select, textarea")?.focus();
}

function search(page) {
  const field = page.querySelector('[data-focus="search"]');
  if (field) {
    field.focus();
    field.select();
  } else {
    location.assign(`${page.querySelector(".mark").href}#search`);
  }
}

/** Show the map as a table, unfolded where a phone folds it; who hears the page goes on there. */
function showTable(table) {
  if (!table) return;
  if (table.querySelector('.fold[aria-expanded="false"]')) table.querySelector(".fold").click();
  table.tabIndex = -1;
  table.focus({ preventScroll: true });
  table.scrollIntoView();
}

function switchTheme(page) {
  const root = page.documentElement;
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
  try {
    localStorage.setItem("theme", root.dataset.theme);
  } catch {
    // storage is switched off: the theme lasts as long as the page
  }
  page.dispatchEvent(new CustomEvent("evenkeel:theme"));
}
