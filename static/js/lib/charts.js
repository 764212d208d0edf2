// What the charts of pauses draw: facts in, Plotly's traces and layouts out. Unknown is drawn as unknown, never as 0.
import { fill, gettext } from "./words.js";
import { shown } from "./shown.js";
import { between, span } from "./time.js";

const [NARROW, SHORT_NAME] = [480, 15]; // px; letters of a queue's name there
const HEADROOM = 1.18; // above the highest mark: its sign stands there
const SIGN = 12; // px that a sign above a mark takes

const SYMBOLS = {
  "member joined": "triangle-up",
  "member left": "triangle-down",
  "heartbeat expired": "x",
  "broker gone": "diamond-open",
  "broker back": "diamond",
  "route changed": "square",
  "subscription changed": "square-open",
};

/** Whether nothing was measured of a pause: it is known from above alone. */
const isBoundAlone = ([low, high]) => !low && Boolean(high);

function pauseOf({ is_told: isTold, longest }) {
  if (!isTold) return gettext("not told yet");
  const words = between(longest);
  return isBoundAlone(longest) ? fill(gettext("%(span)s, an upper bound alone: none was measured"), { span: words }) : words;
}

/** Say one round in a sentence. */
export function sayRound(round) {
  const pause = pauseOf(round);
  const figures = { n: round.number, words: round.words, moves: round.moves ?? gettext("unknown"), left: round.left, pause };
  if (round.left) return fill(gettext("Round %(n)s, %(words)s: %(left)s left without owner, longest pause %(pause)s. Enter opens it."), figures);
  return fill(gettext("Round %(n)s, %(words)s: %(moves)s moved, longest pause %(pause)s. Enter opens it."), figures);
}

/**
 * The longest pause of each round: a mark at its upper bound, a whisker down to the lower one. A bound alone, above or
 * below, is an empty mark with its sign; from above without a whisker, as there is nothing known that it leads to. Signs
 * do not crowd.
 */
export function spikes(facts, ink, width = Infinity) {
  const told = facts.rounds.filter((round) => round.is_told && round.longest[1] !== null);
  const known = told.filter((round) => !isBoundAlone(round.longest));
  const atMost = told.filter((round) => isBoundAlone(round.longest));
  const open = facts.rounds.filter((round) => round.is_told && round.longest[1] === null && round.longest[0] !== null);
  const unknown = facts.rounds.filter((round) => !round.is_told || (round.longest[0] === null && round.longest[1] === null));
  const most = Math.max(1, ...told.map((round) => round.longest[1]), ...open.map((round) => round.longest[0])) / 1000;
  return {
    traces: [
      {
        ...marks(known, ink, (round) => round.longest[1] / 1000),
        error_y: { ...whisker(ink), arrayminus: known.map((round) => (round.longest[1] - (round.longest[0] ?? 0)) / 1000), array: known.map(() => 0) },
        marker: { color: ink.none, size: 9, symbol: known.map(symbol), line: { color: ink.none, width: 1 } },
      },
      {
        ...marks(open, ink, (round) => round.longest[0] / 1000),
        mode: "markers+text",
        text: spaced(open, facts, width, "≥"),
        textposition: "top center",
        textfont: { color: ink.soft },
        marker: { color: ink.paper, size: 9, symbol: open.map((round) => symbol(round).replace("-open", "")), line: { color: ink.none, width: 1.5 } },
      },
      {
        ...marks(unknown, ink, () => 0),
        mode: "markers+text",
        text: spaced(unknown, facts, width, "–"),
        textposition: "top center",
        textfont: { color: ink.soft },
        marker: { color: ink.paper, size: 7, symbol: "circle", line: { color: ink.soft, width: 1 } },
      },
      {
        ...marks(atMost, ink, (round) => round.longest[1] / 1000),
        mode: "markers+text",
        text: spaced(atMost, facts, width, "≤"),
        textposition: "top center",
        textfont: { color: ink.soft },
        marker: { color: ink.paper, size: 9, symbol: atMost.map((round) => symbol(round).replace("-open", "")), line: { color: ink.soft, width: 1 } },
      },
    ],
    layout: { ...frame(facts, ink), height: 240, yaxis: { ...axis(ink), title: { text: gettext("seconds") }, range: [-0.03 * most, HEADROOM * most] } },
  };
}

/** When a queue may have stood still beside the time that is sure: it was let go at `first` at the earliest, by `at`. */
function perhaps({ first, at, high }, low) {
  if (high === null) return [];
  const [from, end] = [first ?? at, (first ?? at) + high];
  const parts = low > 0 ? [[from, at], [at + low, end]] : [[from, end]];
  return parts.filter(([begin, until]) => until > begin);
}

/**
 * When each queue stood still: surely, at most on top of that, within what if nothing was measured, and with an end that
 * nobody knows. In a narrow place names are cut.
 */
export function queues(facts, ink, width = Infinity) {
  const isNarrow = width < NARROW;
  const names = isNarrow ? { tickmode: "array", tickvals: facts.queues, ticktext: facts.queues.map((queue) => shown(queue, SHORT_NAME)) } : {};
  const plain = frame(facts, ink);
  const round = new Map(facts.rounds.map((each) => [each.number, each]));
  const parts = { sure: [], maybe: [], bound: [], unknown: [] };
  for (const each of facts.spans) {
    const low = each.low ?? 0;
    if (low > 0) parts.sure.push({ ...each, from: each.at, length: low });
    parts[low > 0 ? "maybe" : "bound"].push(...perhaps(each, low).map(([from, until]) => ({ ...each, from, length: until - from })));
    if (each.high === null) parts.unknown.push(each);
  }
  const bar = (spans, marker) => ({
    type: "bar",
    orientation: "h",
    base: spans.map((each) => each.from),
    x: spans.map((each) => each.length),
    y: spans.map((each) => each.queue),
    customdata: spans.map((each) => each.round),
    hovertext: spans.map((each) => `${each.queue}<br>${each.says}<br>${pauseOf({ is_told: true, longest: [each.low, each.high] })}<br>${round.get(each.round)?.words ?? ""}`),
    hoverinfo: "text",
    marker,
    showlegend: false,
  });
  return {
    traces: [
      bar(parts.sure, { color: ink.none, line: { color: ink.none, width: 1 } }),
      bar(parts.maybe, { color: ink.wash, line: { color: ink.none, width: 1 } }),
      {
        type: "scatter",
        mode: "markers",
        x: parts.unknown.map((each) => each.at + (each.low ?? 0)),
        y: parts.unknown.map((each) => each.queue),
        customdata: parts.unknown.map((each) => each.round),
        hovertext: parts.unknown.map((each) => `${each.queue}<br>${each.says}<br>${between([each.low, null])}`),
        hoverinfo: "text",
        marker: { color: ink.paper, size: 7, symbol: "circle", line: { color: ink.soft, width: 1.5 } },
        showlegend: false,
      },
      bar(parts.bound, { color: ink.paper, line: { color: ink.soft, width: 0.5 }, pattern: { shape: "/", size: 5, solidity: 0.2, fgcolor: ink.soft, bgcolor: ink.paper } }),
    ],
    layout: {
      ...plain,
      xaxis: isNarrow ? { ...plain.xaxis, nticks: 4, tickangle: 0 } : plain.xaxis,
      height: 60 + 18 * Math.max(4, facts.queues.length),
      barmode: "overlay",
      bargap: 0.35,
      yaxis: { ...axis(ink), type: "category", categoryorder: "array", categoryarray: [...facts.queues].reverse(), automargin: true, tickfont: { family: ink.mono, size: 11, color: ink.soft }, ...names },
    },
  };
}

/** Pauses of all queues, deploy by deploy: what is sure, and what may come on top. */
export function deploys(facts, ink) {
  const waves = [...facts.waves].reverse();
  const x = waves.map((wave) => `${wave.number}–${wave.last}`);
  const low = waves.map((wave) => wave.paused[0] / 1000);
  const more = waves.map((wave) => (wave.paused[1] === null ? 0 : (wave.paused[1] - wave.paused[0]) / 1000));
  const open = waves.map((wave) => (wave.paused[1] !== null ? "" : wave.paused[0] ? "≥" : "–"));
  const bar = (y, marker, text) => ({
    type: "bar",
    x,
    y,
    width: Math.min(0.6, 0.06 * waves.length),
    marker,
    text,
    textposition: "outside",
    textfont: { color: ink.strong },
    customdata: waves.map((wave) => wave.number),
    hovertext: waves.map((wave) => `${wave.words}<br>${between(wave.paused)}`),
    hoverinfo: "text",
    showlegend: false,
  });
  return {
    traces: [bar(low, { color: ink.none }, open), bar(more, { color: ink.wash, line: { color: ink.none, width: 1 } })],
    layout: {
      ...frame(facts, ink),
      height: 220,
      barmode: "stack",
      xaxis: { ...axis(ink), type: "category", title: { text: gettext("rounds") } },
      yaxis: { ...axis(ink), title: { text: gettext("queue-seconds paused") }, rangemode: "tozero" },
    },
  };
}

/** How many messages the group was behind: each value holds until the next; where it is unknown, the line has a gap. */
export function lag(facts, ink) {
  const changes = facts.lag.length ? [...facts.lag, [facts.until, facts.lag.at(-1)[1]]] : [];
  const points = changes.flatMap(([at, value], index) => (value === null && index ? [[at, changes[index - 1][1]], [at, null]] : [[at, value]]));
  const first = Math.max(facts.since, Math.min(facts.until, points[0]?.[0] ?? facts.until) - 5000);
  const most = Math.max(0, ...points.map(([, value]) => value ?? 0));
  const inside = facts.rounds.filter((round) => round.at >= first);
  return {
    traces: [
      {
        type: "scatter",
        mode: "lines",
        x: points.map(([at]) => at),
        y: points.map(([, value]) => value),
        line: { shape: "hv", color: ink.edge, width: 1.5 },
        fill: "tozeroy",
        fillcolor: ink.sunk,
        connectgaps: false,
        hovertext: points.map(([, value]) => (value === null ? "" : fill(gettext("%(n)s messages behind"), { n: value }))),
        hoverinfo: "x+text",
        showlegend: false,
      },
      { ...marks(inside, ink, () => most), y: inside.map(() => most), marker: { color: ink.none, size: 8, symbol: inside.map(symbol) } },
    ],
    layout: {
      ...frame(facts, ink),
      height: 220,
      xaxis: { ...timeAxis(ink), range: [first, facts.until] },
      yaxis: { ...axis(ink), title: { text: gettext("messages behind") }, rangemode: "tozero" },
    },
  };
}

const symbol = (round) => SYMBOLS[round.cause] ?? "circle";

function marks(rounds, ink, y) {
  return {
    type: "scatter",
    mode: "markers",
    x: rounds.map((round) => round.at),
    y: rounds.map(y),
    customdata: rounds.map((round) => round.number),
    hovertext: rounds.map((round) => `${round.number}: ${round.words}<br>${pauseOf(round)}`),
    hoverinfo: "text",
    showlegend: false,
    cliponaxis: false,
  };
}

const whisker = (ink) => ({ type: "data", symmetric: false, color: ink.none, thickness: 1.2, width: 4 });

const axis = (ink) => ({ gridcolor: ink.line, zerolinecolor: ink.line, linecolor: ink.line, tickfont: { color: ink.soft, size: 11 }, titlefont: { color: ink.soft }, fixedrange: true });

// Dates without the name of a month: the same in all languages.
const TICKS = [
  { dtickrange: [null, 1000], value: "%H:%M:%S.%3f\n%Y-%m-%d" },
  { dtickrange: [1000, 60_000], value: "%H:%M:%S\n%Y-%m-%d" },
  { dtickrange: [60_000, 86_400_000], value: "%H:%M\n%Y-%m-%d" },
  { dtickrange: [86_400_000, null], value: "%Y-%m-%d" },
];

const timeAxis = (ink) => ({ ...axis(ink), type: "date", tickformatstops: TICKS });

/** A sign for each round that has room for one beside the sign before; what each mark means its look says too. */
function spaced(rounds, facts, width, sign) {
  const pixels = width / (facts.until - beginning(facts));
  let last = -Infinity;
  return rounds.map(({ at }) => {
    if (Math.abs(at - last) * pixels < SIGN) return "";
    last = at;
    return sign;
  });
}

/** Where an axis of time begins: a little before the first round, but not before the window. */
function beginning({ rounds, since, until }) {
  const first = Math.min(...rounds.map((round) => round.at), until);
  return Math.max(since, first - (until - first) * 0.05 - 5000);
}

function frame(facts, ink) {
  return {
    paper_bgcolor: ink.paper,
    plot_bgcolor: ink.sunk,
    font: { family: ink.sans, size: 11, color: ink.soft },
    hoverlabel: { bgcolor: ink.raised, bordercolor: ink.line, font: { color: ink.strong, family: ink.sans, size: 12 } },
    margin: { l: 56, r: 16, t: 20, b: 40 },
    hovermode: "closest",
    dragmode: false,
    xaxis: { ...timeAxis(ink), range: [beginning(facts), facts.until] },
  };
}
