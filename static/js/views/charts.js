// Plotly on a page: loaded when there is a chart, coloured by the page's roles, left and entered by keyboard too.
const ROLES = {
  paper: "--paper",
  sunk: "--sunk",
  raised: "--raised",
  line: "--line",
  strong: "--ink",
  soft: "--ink-3",
  none: "--none",
  wash: "--none-wash",
  two: "--two",
  held: "--held",
  edge: "--held-edge",
};

let loading = null;

/** Load Plotly once; it stands among our own files. */
export function loadPlotly(address) {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.addEventListener("load", () => resolve(globalThis.Plotly));
    script.addEventListener("error", () => reject(new Error(`${address} cannot be loaded`)));
    document.head.append(script);
  });
  return loading;
}

/** The page's colours as Plotly can read them: a canvas turns whatever CSS says into red, green and blue. */
export function readInk(root = document.documentElement) {
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  const ink = {};
  for (const [name, role] of Object.entries(ROLES)) {
    probe.style.color = `var(${role})`;
    pen.fillStyle = getComputedStyle(probe).color;
    pen.fillRect(0, 0, 1, 1);
    const [red, green, blue] = pen.getImageData(0, 0, 1, 1).data;
    ink[name] = `rgb(${red}, ${green}, ${blue})`;
  }
  probe.remove();
  const style = getComputedStyle(root);
  return { ...ink, sans: style.getPropertyValue("--sans").trim(), mono: style.getPropertyValue("--mono").trim() };
}

const BEFORE_MS = 5000;
const AFTER_MS = 20000;

/** One chart. `stops` are what its arrows walk along: each has `number`, `says` and `link`. One that `zooms` shows the
 * time of the chosen stop, and all of it again after Escape. */
export class Chart {
  constructor(box, { Plotly, build, stops, zooms = false }) {
    Object.assign(this, { box, Plotly, build, stops, zooms, at: -1 });
    this.says = box.nextElementSibling?.matches("[data-says]") ? box.nextElementSibling : null;
    this.hint = this.says?.textContent ?? "";
    this.press = (event) => this.onKey(event);
    box.addEventListener("keydown", this.press);
  }

  async draw() {
    const { traces, layout } = this.build(readInk());
    const stop = this.stops[this.at];
    if (this.zooms && stop) layout.xaxis.range = [stop.at - BEFORE_MS, Math.max(stop.until ?? 0, stop.at) + AFTER_MS];
    this.box.querySelector(".room")?.remove();
    this.box.style.blockSize = `${layout.height}px`; // what Plotly fills when the window changes
    const config = { displayModeBar: false, responsive: true, showTips: false };
    await this.Plotly.react(this.box, traces, { ...layout, shapes: this.mark(layout) }, config);
    if (this.listens) return;
    this.listens = true;
    this.box.on("plotly_click", ({ points }) => this.open(points[0]?.customdata));
  }

  /** A line where the chosen stop is, on axes of time. */
  mark(layout) {
    const stop = this.stops[this.at];
    if (!stop || stop.at === undefined || layout.xaxis.type !== "date") return [];
    return [{ type: "line", xref: "x", yref: "paper", x0: stop.at, x1: stop.at, y0: 0, y1: 1, line: { color: readInk().strong, width: 1 } }];
  }

  onKey(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -this.stops.length, End: this.stops.length }[event.key];
    if (event.key === "Escape" && this.at >= 0) {
      this.at = -1;
      if (this.says) this.says.textContent = this.hint;
      this.draw();
    } else if (step && this.stops.length) {
      event.preventDefault();
      event.stopPropagation();
      const from = this.at < 0 && step < 0 ? this.stops.length : this.at;
      this.at = Math.min(Math.max(from + step, 0), this.stops.length - 1);
      if (this.says) this.says.textContent = this.stops[this.at].says;
      this.draw();
    } else if (event.key === "Enter" && this.at >= 0) {
      event.preventDefault();
      event.stopPropagation();
      this.open(this.stops[this.at].number);
    }
  }

  open(number) {
    const stop = this.stops.find((each) => each.number === number);
    if (stop) location.assign(stop.link);
  }

  close() {
    this.box.removeEventListener("keydown", this.press);
    this.Plotly.purge(this.box);
  }
}
