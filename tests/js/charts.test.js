// What the charts of pauses draw: bounds stay bounds, unknown stays unknown, and everything leads to a round.
import assert from "node:assert/strict";
import test from "node:test";

import { deploys, lag, queues, sayRound, spikes } from "../../static/js/lib/charts.js";

const INK = { none: "o", wash: "w", paper: "p", sunk: "s", line: "l", strong: "k", soft: "g", raised: "r", sans: "a", mono: "m" };
const round = (number, longest, is_told = true) => ({ number, at: number * 1000, cause: "member joined", words: "member joined: C", moves: 2, is_told, longest });
const facts = (more) => ({ since: 0, until: 9000, rounds: [], queues: ["q"], spans: [], waves: [], ...more });

test("a round without an upper bound stands at its lower one, and one that is not told is a dash", () => {
  const { traces, layout } = spikes(facts({ rounds: [round(1, [1000, 3000]), round(2, [2000, null]), round(3, null, false), round(4, [null, null])] }), INK);

  assert.deepEqual(traces.map((each) => each.customdata), [[1], [2], [3, 4], []]);
  assert.deepEqual([traces[0].y, traces[0].error_y.arrayminus], [[3], [2]]);
  assert.deepEqual([traces[1].y, traces[1].text], [[2], ["≥"]]);
  assert.deepEqual(traces[2].text, ["–", "–"]);
  assert.ok(layout.yaxis.range[1] > 3.3, "the sign above the highest mark has room");
  assert.match(sayRound(round(3, null, false)), /not told yet/);
  assert.match(sayRound({ ...round(3, [0, 0]), moves: 0, left: 4 }), /: 4 left without owner, /);
});

test("a queue is surely paused up to the lower bound, at most up to the upper one, and its end may be unknown", () => {
  const span = { queue: "q", round: 1, at: 100, says: "B → C" };
  const { traces } = queues(facts({ rounds: [round(1, [5, 9])], spans: [{ ...span, low: 5, high: 9 }, { ...span, low: null, high: null }] }), INK);

  assert.deepEqual([traces[0].base, traces[0].x], [[100], [5]]);
  assert.deepEqual([traces[1].base, traces[1].x], [[105], [4]]);
  assert.deepEqual([traces[2].x, traces[2].customdata], [[100], [1]]);
});

test("a pause whose beginning was not seen may have begun as early as it can, and ends no later for that", () => {
  const span = { queue: "q", round: 1, says: "B → C" };
  const unseen = { ...span, first: 100, at: 900, low: 0, high: 300 };  // let go by 900 at the latest, taken by 400
  const late = { ...span, first: 100, at: 200, low: 50, high: 250 };
  const { traces } = queues(facts({ rounds: [round(1, [5, 9])], spans: [unseen, late] }), INK);

  assert.deepEqual([traces[0].base, traces[0].x], [[200], [50]]);
  assert.deepEqual([traces[1].base, traces[1].x], [[100, 250], [100, 100]]);
  assert.deepEqual([traces[3].base, traces[3].x], [[100], [300]]);
});

test("what is known from above alone is an empty mark with its sign, and hatched: nothing of it was measured", () => {
  const bound = round(1, [0, 3000]);
  const points = spikes(facts({ rounds: [bound, round(2, [0, 0])] }), INK).traces;
  const bars = queues(facts({ rounds: [bound], spans: [{ queue: "q", round: 1, at: 100, says: "B → C", low: 0, high: 9 }] }), INK).traces;

  assert.deepEqual([points[0].customdata, points[3].customdata], [[2], [1]], "no pause at all is measured");
  assert.deepEqual([points[3].y, points[3].text, points[3].error_y, points[3].marker.color], [[3], ["≤"], undefined, "p"]);
  assert.deepEqual([bars[0].x, bars[1].x, bars[3].x], [[], [], [9]]);
  assert.equal(bars[3].marker.pattern.shape, "/");
  assert.match(sayRound(bound), /longest pause ≤\u00a03\.0\u00a0s, an upper bound alone: none was measured\. Enter/);
  assert.match(bars[3].hovertext[0], /an upper bound alone/);
});

test("in a narrow place the names of queues leave room for their times", () => {
  const name = "%RETRY%payment-ledger/broker-b/0";
  const labels = (width) => queues(facts({ queues: [name] }), INK, width).layout.yaxis.ticktext ?? null;

  assert.equal(labels(1200), null);
  const [label] = labels(343);
  assert.ok(label.length <= 15 && label.endsWith("/0"), label);
});

test("signs above the marks of rounds that are close together do not crowd a narrow chart", () => {
  const rounds = [10, 11, 40, 41].map((number) => round(number, [2000, null]));
  const signs = (width) => spikes({ ...facts({ rounds }), until: 50_000 }, INK, width).traces[1].text;

  assert.deepEqual(signs(900), ["≥", "≥", "≥", "≥"]);
  assert.deepEqual(signs(343), ["≥", "", "≥", ""]);
  assert.deepEqual(spikes({ ...facts({ rounds: [...rounds].reverse() }), until: 50_000 }, INK, 343).traces[1].text, ["≥", "", "≥", ""]);
});

test("an axis of time begins a little before the first round, and never before the window", () => {
  const axis = (since, at) => spikes({ ...facts({ rounds: [{ ...round(1, [1, 2]), at }] }), since, until: 200000 }, INK).layout.xaxis.range;

  assert.deepEqual(axis(0, 100000), [90000, 200000]);
  assert.deepEqual(axis(95000, 100000), [95000, 200000]);
});

test("a deploy that is only known from below says so", () => {
  const wave = { words: "member joined" };
  const { traces } = deploys(facts({ waves: [{ ...wave, number: 5, last: 6, paused: [2000, null] }, { ...wave, number: 1, last: 3, paused: [1000, 4000] }] }), INK);

  assert.deepEqual(traces[0].x, ["1–3", "5–6"]);
  assert.deepEqual([traces[0].y, traces[1].y, traces[0].text], [[1, 2], [3, 0], ["", "≥"]]);
});

test("lag holds until it changes, has gaps where it is unknown, and goes on to now", () => {
  const { traces, layout } = lag(facts({ rounds: [round(7, [1, 2])], lag: [[6000, 3], [7000, null], [8000, 0]] }), INK);

  assert.deepEqual([traces[0].x, traces[0].y], [[6000, 7000, 7000, 8000, 9000], [3, 3, null, 0, 0]]);
  assert.equal(traces[0].line.shape, "hv");
  assert.equal(traces[0].connectgaps, false);
  assert.deepEqual([traces[1].customdata, traces[1].y], [[7], [3]]);
  assert.deepEqual(layout.xaxis.range, [1000, 9000]);
});
