// `j`, `k` and Enter in lists: of groups, of rounds.
export function mountRows(page) {
  const rows = () => [...page.querySelectorAll("#groups > li[data-id], [data-rows] tbody tr")].filter((row) => row.querySelector("a"));
  page.addEventListener("evenkeel:row", ({ detail }) => {
    const all = rows();
    const at = all.findIndex((row) => row.hasAttribute("data-current"));
    if (detail === "open") return all[at]?.querySelector("a").click();
    const next = all[Math.min(Math.max(at + detail, 0), all.length - 1)];
    if (!next) return;
    all[at]?.removeAttribute("data-current");
    next.setAttribute("data-current", "");
    next.querySelector("a").focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  });
}
