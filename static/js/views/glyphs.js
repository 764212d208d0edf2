// Fills the small marks of causes that the server left empty.
import { draw } from "../lib/svg.js";
import { glyphOf } from "../lib/glyphs.js";

export function mountGlyphs(root) {
  for (const svg of root.querySelectorAll("svg[data-glyph]:empty")) fillGlyph(svg, svg.dataset.glyph);
}

/** The mark of a cause, as the server writes it. */
export const glyph = (cause) => fillGlyph(draw("svg", { class: "glyph-inline", viewBox: "-6 -6 12 12", "aria-hidden": "true" }), cause);

function fillGlyph(svg, cause) {
  const [path, isHollow] = glyphOf(cause);
  svg.append(draw("path", { class: isHollow ? "glyph hollow" : "glyph", d: path }));
  return svg;
}
