// Fills the small marks of causes that the server left empty.
import { draw } from "../lib/svg.js";
import { glyphOf } from "../lib/glyphs.js";

export function mountGlyphs(root) {
  for (const svg of root.querySelectorAll("svg[data-glyph]:empty")) {
    const [path, isHollow] = glyphOf(svg.dataset.glyph);
    svg.append(draw("path", { class: isHollow ? "glyph hollow" : "glyph", d: path }));
  }
}
