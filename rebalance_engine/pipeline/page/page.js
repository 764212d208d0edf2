// Draws the page's charts in its own colours, and again when the theme changes. A text that begins with -- is a role,
// but for what the logs say.
const SAID = new Set(["name", "text", "x", "y"]);
const figures = JSON.parse(document.getElementById("figures").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)");

function inked(value, style) {
  if (typeof value === "string") return value.startsWith("--") ? style.getPropertyValue(value).trim() : value;
  if (Array.isArray(value)) return value.map((one) => inked(one, style));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, SAID.has(name) ? one : inked(one, style)]));
}

function draw() {
  const style = getComputedStyle(document.documentElement);
  for (const [name, { traces, layout }] of Object.entries(figures)) {
    Plotly.react(name, inked(traces, style), inked(layout, style), { responsive: true, displaylogo: false });
  }
}

draw();
dark.addEventListener("change", draw);
