// Buttons that put a text of the page on the clipboard, and say what came of it. A page that was not reached by HTTPS has
// no `navigator.clipboard`: the older command does it there; where that fails too, the text is marked for one's own keys.
import { gettext } from "../lib/words.js";

export function mountCopying(root) {
  for (const part of root.querySelectorAll("[data-copying]")) {
    const [text, button, says] = ["[data-text]", "button", "[role=status]"].map((each) => part.querySelector(each));
    button.hidden = false;
    button.addEventListener("click", async () => {
      says.textContent = "";
      const isDone = (await written(text.textContent)) || marked(text);
      says.textContent = isDone ? gettext("Copied") : gettext("The browser did not copy it: it is marked, copy it by keys.");
    });
  }
}

async function written(text) {
  try {
    await navigator.clipboard.writeText(text); // there is none, or it is not allowed: both throw
    return true;
  } catch {
    return false;
  }
}

function marked(element) {
  const range = document.createRange();
  range.selectNodeContents(element);
  const selection = getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
  return document.execCommand("copy");
}
