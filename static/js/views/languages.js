// Whoever chooses another language comes back to where the page is now: views write what they show into the address.

export function mountLanguages(page) {
  page.addEventListener("submit", ({ target }) => {
    if (target.matches("form[data-stays]")) target.elements.next.value = location.pathname + location.search;
  });
}
