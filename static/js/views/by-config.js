// A by-config assignment as a map. On the page where it is edited a cell gives its queue to its client, or takes it away;
// the document beside it says the same, and is what is sent.
import { CellMap } from "./map.js";
import { NOTHING_AROUND, say } from "./plan.js";
import { PLANNED, asMap, describePlan } from "../lib/planned.js";
import { make } from "../lib/svg.js";
import { gettext } from "../lib/words.js";
import { keyOf } from "../lib/columns.js";
import { pack } from "../lib/packing.js";
import { queuesOf } from "../lib/owners.js";
import { readDocument, writeDocument } from "../lib/assignment.js";

const MOST_STEPS = 200;

export function mountByConfig(page) {
  const { picture, is_edited: isEdited } = JSON.parse(page.querySelector("#facts").textContent);
  const host = page.querySelector('[data-map="planned"]');
  if (!host) return undefined;
  if (!picture) {
    host.append(make("p", { class: "dim" }, gettext("Too large for a map of cells; the document says it all.")));
    return undefined;
  }
  const says = page.querySelector("#says");
  const map = new CellMap(host, { grammar: PLANNED, onPoint: (column, client) => say(says, column, describePlan(map.picture, column, client)) });
  let state = picture;
  const paint = () => map.update(asMap(state, PLANNED), NOTHING_AROUND);
  paint();
  says.textContent = gettext("Point at a cell, or use the arrow keys.");
  page.addEventListener("evenkeel:move", ({ detail: [rows, columns] }) => map.move(rows, columns));
  addEventListener("resize", paint);
  if (isEdited) {
    edits(page, host, map, picture, (next) => {
      state = next;
      paint();
    });
  }
  return () => removeEventListener("resize", paint);
}

function edits(page, host, map, picture, show) {
  const field = page.querySelector("#document");
  const undone = [];

  function put(text) {
    undone.push(field.value);
    if (undone.length > MOST_STEPS) undone.shift();
    field.value = text;
    show(planned(picture, readDocument(text)));
  }

  function toggle() {
    const at = map.at();
    const pairs = readDocument(field.value);
    if (!at || !pairs) return;
    const [{ topic, broker, id }, client] = at;
    const isThis = ([, t, b, i]) => t === topic && b === broker && i === id;
    const had = pairs.some((pair) => pair[0] === client && isThis(pair));
    const left = pairs.filter((pair) => !isThis(pair));
    put(writeDocument(had ? left : [...left, [client, topic, broker, id]], Object.keys(JSON.parse(field.value || "{}"))));
    map.again();
  }

  function undo() {
    if (!undone.length) return;
    field.value = undone.pop();
    const pairs = readDocument(field.value);
    if (pairs) show(planned(picture, pairs));
    map.again();
  }

  host.addEventListener("click", (event) => {
    if (event.target.closest(".cells")) toggle();
  });
  page.addEventListener("evenkeel:row", ({ detail }) => detail === "open" && toggle());
  page.addEventListener("evenkeel:undo", undo);
  field.addEventListener("change", () => {
    const pairs = readDocument(field.value);
    if (pairs) show(planned(picture, pairs));
  });
}

/** The picture with other owners; who and what it does not know is left to the checks. */
function planned(picture, pairs) {
  const numbers = new Map(queuesOf(picture).map((queue, number) => [keyOf(queue), number]));
  const of = new Map(picture.members.map((cell) => [cell.client, []]));
  for (const [client, topic, broker, id] of pairs) {
    const number = numbers.get(keyOf({ topic, broker, id }));
    if (number !== undefined && of.has(client)) of.get(client).push(number);
  }
  return { ...picture, members: picture.members.map((cell) => ({ ...cell, target: pack(of.get(cell.client)) })) };
}
