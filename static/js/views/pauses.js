// The page of pauses: charts that lead to rounds, drawn again when the theme changes.
import { Chart, loadPlotly } from "./charts.js";
import { deploys, lag, queues, sayRound, spikes } from "../lib/charts.js";
import { between } from "../lib/time.js";
import { fill, gettext } from "../lib/words.js";

const BUILDERS = { spikes, queues, deploys, lag };
const ZOOMING = new Set(["queues", "lag"]);

export function mountPauses(page) {
  const boxes = [...page.querySelectorAll("[data-chart]")];
  const charts = [];
  let isOver = false;
  if (!boxes.length) return () => {};
  const facts = JSON.parse(page.querySelector("#facts").textContent);
  const rounds = facts.rounds.map((round) => ({ ...round, says: sayRound(round) }));
  const waves = [...facts.waves].reverse().map((wave) => ({ ...wave, says: sayWave(wave) }));
  const address = page.querySelector("[data-plotly]").dataset.plotly;
  const redraw = () => charts.forEach((chart) => chart.draw());
  loadPlotly(address)
    .then((Plotly) => {
      if (isOver) return;
      for (const box of boxes) {
        const name = box.dataset.chart;
        const stops = name === "deploys" ? waves : rounds;
        charts.push(new Chart(box, { Plotly, build: (ink) => BUILDERS[name](facts, ink, box.clientWidth), stops, zooms: ZOOMING.has(name) }));
      }
      redraw();
    })
    .catch((error) => {
      for (const box of boxes) box.textContent = fill(gettext("The chart cannot be drawn: %(why)s. The tables have it."), { why: error.message });
    });
  page.addEventListener("evenkeel:theme", redraw);
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", redraw);
  return () => {
    isOver = true;
    page.removeEventListener("evenkeel:theme", redraw);
    scheme.removeEventListener("change", redraw);
    charts.forEach((chart) => chart.close());
  };
}

function sayWave(wave) {
  const words = gettext("Rounds %(first)s to %(last)s, %(words)s: queues paused for %(pause)s together. Enter opens the first.");
  return fill(words, { first: wave.number, last: wave.last, words: wave.words, pause: between(wave.paused) });
}
