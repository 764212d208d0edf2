// Of when is what a page shows: one instant, which its age is the age of.
import assert from "node:assert/strict";
import test from "node:test";

import { AsOf, shownAt } from "../../static/js/views/as-of.js";

test("what is live is as of the last answer, and of now where nothing is watched", () => {
  assert.equal(shownAt({ now: 100000, heard: null, watched: [99000] }), 99000);
  assert.equal(shownAt({ now: 100000, heard: null, watched: [] }), 100000);
});

test("what no cluster answers for is as of the last answer, whatever the time is", () => {
  assert.equal(shownAt({ now: 100000, heard: null, watched: [40000, null, 30000] }), 40000);
  assert.equal(shownAt({ now: 100000, heard: null, watched: [null] }), null);
  assert.equal(shownAt({ now: 100000, heard: null, watched: [40000, 95000] }), 95000);
});

test("a page that is not connected is as of what it heard last", () => {
  assert.equal(shownAt({ now: 100000, heard: 70000, watched: [71000] }), 70000);
  assert.equal(shownAt({ now: 100000, heard: 70000, watched: [20000] }), 20000);
});

/** A page with the head that tells of when it is. */
function pageWithHead() {
  const parts = Object.fromEntries(["mode", "age", "now", "change"].map((name) => [name, { textContent: "" }]));
  const head = { dataset: {}, querySelector: (asked) => parts[asked.match(/"(\w+)"/)[1]] ?? null };
  const classes = new Set();
  const classList = { toggle: (name, isOn) => (isOn ? classes.add(name) : classes.delete(name)) };
  const aging = { textContent: "", dataset: { aging: "" } };
  const kept = { textContent: "", dataset: { aging: "kept" } };
  const lasting = { textContent: "", dataset: { lasts: "995000" } };
  const querySelectorAll = (asked) => ({ "[data-aging]": [aging, kept], "[data-lasts]": [lasting] })[asked];
  return { parts, head, classes, aging, kept, lasting, querySelector: () => head, querySelectorAll, body: { classList } };
}

function begin(context, more = {}) {
  context.mock.timers.enable({ apis: ["setInterval", "Date"], now: 1_000_000 });
  const page = pageWithHead();
  const asOf = new AsOf(page, { now: 1_000_000, watched: { "group-1": 1_000_000 }, ...more });
  context.after(() => asOf.close());
  asOf.status("open");
  return { page, asOf };
}

test("while the page is live it says beside what is shown that a member has told nothing for a while", (context) => {
  const { page, asOf } = begin(context);

  asOf.noteLate("1 of 4 members has told nothing for 9 s");
  assert.deepEqual([page.head.dataset.mode, page.aging.textContent], ["live", "1 of 4 members has told nothing for 9 s"]);
  assert.equal(page.kept.textContent, ""); // a round that is over

  asOf.noteLate("");
  assert.equal(page.aging.textContent, "");
});

const pulse = (at) => ({ kind: "pulse", stream: "group-1", at, watched_at: at });

test("a line that is cut is told before what fails because of it, with its age, and the picture is old", (context) => {
  const { page, asOf } = begin(context);
  asOf.note("beside", true);
  assert.deepEqual([page.head.dataset.mode, page.classes.has("stale"), page.aging.textContent], ["behind", false, ""]);

  asOf.status("away");
  context.mock.timers.tick(3000);

  assert.equal(page.head.dataset.mode, "away");
  assert.equal(page.parts.age.textContent, "nothing heard for 3\u00a0s, trying again");
  assert.ok(page.classes.has("stale"));
  assert.equal(page.aging.textContent, "as of 3\u00a0s ago");
});

test("a line that says it is open and is silent for longer than it ever is counts as cut", (context) => {
  const { page, asOf } = begin(context);
  context.mock.timers.tick(10000);
  asOf.heard(pulse(Date.now()));
  asOf.note("beside", true);
  context.mock.timers.tick(15000);
  assert.equal(page.head.dataset.mode, "behind");

  context.mock.timers.tick(1000);

  assert.deepEqual([page.head.dataset.mode, page.classes.has("stale")], ["away", true]);
  asOf.heard(pulse(Date.now()));
  asOf.note("beside", false);
  assert.equal(page.head.dataset.mode, "live");
});

test("what lasts is counted on, as of what is shown", (context) => {
  const { page, asOf } = begin(context);
  assert.equal(page.lasting.textContent, "for 5\u00a0s");

  context.mock.timers.tick(2000);
  asOf.heard(pulse(Date.now()));
  assert.equal(page.lasting.textContent, "for 7\u00a0s");

  asOf.status("away");
  context.mock.timers.tick(60000);
  assert.equal(page.lasting.textContent, "for 7\u00a0s");
});

test("a watcher that stops makes the page of its group old after 8 s, and the time of what is shown never goes on", (context) => {
  const { page, asOf } = begin(context, { isViewed: true });
  const began = page.parts.now.textContent;
  context.mock.timers.tick(2000);
  asOf.heard({ ...pulse(Date.now()), watched_at: 1_000_000 }); // the line is there, and the watcher says nothing
  context.mock.timers.tick(6000);
  assert.deepEqual([page.head.dataset.mode, page.parts.now.textContent, page.aging.textContent], ["live", began, ""]);

  context.mock.timers.tick(1000);

  assert.deepEqual([page.head.dataset.mode, page.parts.now.textContent], ["stale", began]);
  assert.equal(page.aging.textContent, "as of 9\u00a0s ago");
});

test("what is told late of when a cluster answered makes nothing older", (context) => {
  const { page, asOf } = begin(context, { isViewed: true });
  context.mock.timers.tick(5000);
  asOf.heard(pulse(1_005_000));
  asOf.heard({ ...pulse(1_005_000), watched_at: 1_001_000 });
  context.mock.timers.tick(5000);

  assert.equal(page.head.dataset.mode, "live");
});

test("the time of the overview never goes back, and a word that is late is no cluster that does not answer", (context) => {
  const { page, asOf } = begin(context);
  const began = page.parts.now.textContent;
  context.mock.timers.tick(10000);
  asOf.heard({ ...pulse(Date.now()), watched_at: 1_001_000 });
  const told = page.parts.now.textContent;
  assert.ok(told > began);

  context.mock.timers.tick(14000); // the next word is late: its last one was of an answer 9 s old
  assert.deepEqual([page.head.dataset.mode, page.parts.now.textContent, asOf.ageOf("group-1")], ["live", told, null]);

  asOf.heard({ ...pulse(Date.now()), watched_at: 1_001_000 }); // and now it is told that nothing answered since
  assert.deepEqual([page.head.dataset.mode, page.parts.now.textContent, asOf.ageOf("group-1")], ["stale", told, 23000]);
});

test("a cluster that is put aside is not one that does not answer, and is watched again once that is told", (context) => {
  const { page, asOf } = begin(context, { watched: { "group-1": 1_000_000, "overview-2": 1_000_000 } });
  const other = { ...pulse(1_030_000), stream: "overview-2", standing: "aside", watched_at: 1_000_000 };
  context.mock.timers.tick(30000);
  asOf.heard(pulse(1_030_000));
  asOf.heard({ ...other, standing: "watched" });
  assert.equal(page.parts.age.textContent, "1 cluster does not answer");

  asOf.heard(other);

  assert.deepEqual([page.head.dataset.mode, page.parts.age.textContent, asOf.ageOf("overview-2")], ["live", "", 30000]);
  asOf.heard({ ...other, standing: "watched", watched_at: 1_030_000 });
  assert.equal(asOf.ageOf("overview-2"), null);
});

test("a page of which all is put aside, or deleted, says so", (context) => {
  const { page, asOf } = begin(context, { isViewed: true });

  asOf.heard({ ...pulse(1_000_000), standing: "aside" });
  assert.deepEqual([page.head.dataset.mode, page.parts.age.textContent], ["stale", "put aside: nobody watches it any more"]);
  asOf.heard(pulse(1_000_000)); // what its watcher said before it ended
  assert.equal(page.head.dataset.mode, "stale");

  asOf.heard({ ...pulse(1_000_000), standing: "gone", watched_at: null });
  assert.deepEqual([page.head.dataset.mode, page.parts.age.textContent], ["stale", "deleted, or not for you any more: this is how it was last"]);
  context.mock.timers.tick(60000);
  assert.equal(page.head.dataset.mode, "stale", "nothing is to be heard any more");
});

test("what is asked for and is not there any more is gone, with all that is shown, and may come back", (context) => {
  const { page, asOf } = begin(context, { watched: { "producers-1": 1_000_000 } });

  asOf.status("gone");
  assert.ok(asOf.isAllGone());
  assert.deepEqual([page.head.dataset.mode, page.parts.age.textContent], ["stale", "deleted, or not for you any more: this is how it was last"]);

  asOf.heard({ ...pulse(1_000_000), stream: "producers-1", standing: "watched" });
  assert.equal(page.head.dataset.mode, "live");
});

test("what is shown no more is not counted", (context) => {
  const { page, asOf } = begin(context, { watched: { "producers-1": 1_000_000, "producers-2": null } });
  assert.equal(page.parts.age.textContent, "1 cluster does not answer");

  asOf.keepOnly(["producers-1"]);
  asOf.show();

  assert.equal(page.parts.age.textContent, "");
});

test("a word of an old answer is not waited for any longer", (context) => {
  const { page, asOf } = begin(context);
  context.mock.timers.tick(15000);
  asOf.heard({ ...pulse(Date.now()), watched_at: 1_000_000 });
  assert.equal(page.head.dataset.mode, "live");

  context.mock.timers.tick(6000);

  assert.deepEqual([page.head.dataset.mode, page.parts.age.textContent], ["stale", "last answer 21\u00a0s ago"]);
});

test("what is put aside is stale before the line is open, and stays so until it is watched again", (context) => {
  context.mock.timers.enable({ apis: ["setInterval", "Date"], now: 1_000_000 });
  const page = pageWithHead();
  const asOf = new AsOf(page, { now: 1_000_000, watched: { "overview-1": 1_000_000 }, aside: ["overview-1"] });
  context.after(() => asOf.close());
  assert.deepEqual([page.head.dataset.mode, page.parts.age.textContent], ["stale", "put aside: nobody watches it any more"]);

  asOf.status("open");
  assert.equal(page.head.dataset.mode, "stale");
  asOf.heard({ ...pulse(1_000_000), stream: "overview-1", standing: "watched" });
  assert.equal(page.head.dataset.mode, "live");
});

test("members are asked since one of them was heard after a break, and till then nobody is late of whom it is not known", (context) => {
  const { asOf } = begin(context, { isViewed: true });
  const since = () => asOf.stretch().since - 1_000_000;
  const word = (at, ...seen) => asOf.heard({ ...pulse(1_000_000 + at), seen: seen.map((each) => ({ client: "A", at: 1_000_000 + each })) });
  assert.equal(since(), 20_000);

  context.mock.timers.tick(3000);
  word(3000, -4000, 2000, 1000);
  assert.equal(since(), 1000);
  context.mock.timers.tick(3000);
  word(6000, 5000);
  assert.equal(since(), 1000, "it was heard before");

  context.mock.timers.tick(40_000); // put aside, and taken back
  word(46_000, 5000);
  assert.equal(since(), 66_000, "it is watched again, and asks nobody yet");
  context.mock.timers.tick(3000);
  word(49_000);
  context.mock.timers.tick(3000);
  word(52_000, 51_500);
  assert.equal(since(), 51_500);
});

test("a watcher was heard without a break as long as its words follow each other, and to a little after the last", (context) => {
  const { asOf } = begin(context, { isViewed: true });
  const stretch = () => Object.values(asOf.stretch()).map((at) => at - 1_000_000);
  const word = (at) => asOf.heard({ ...pulse(Date.now()), watched_at: 1_000_000 + at });

  context.mock.timers.tick(4000);
  word(3000);
  assert.deepEqual(stretch(), [20_000, 5000]);
  context.mock.timers.tick(2000);
  word(3000); // nothing more has answered
  context.mock.timers.tick(2001);
  assert.deepEqual(stretch(), [20_000, 5000]);
  word(7000);
  assert.deepEqual(stretch(), [28_001, 9000]);
});

test("the change of a stream that is gone is told no more, but the last where nothing else is shown", (context) => {
  const streams = { "overview-1": 1_000_000, "overview-2": 1_000_000 };
  const { page, asOf } = begin(context, { watched: streams, changes: { "overview-1": 338, "overview-2": 20 } });
  assert.equal(page.parts.change.textContent, "338, 20");

  asOf.heard({ ...pulse(1_000_000), stream: "overview-2", standing: "gone", watched_at: null });
  assert.equal(page.parts.change.textContent, "338");
  asOf.heard({ ...pulse(1_000_000), stream: "overview-1", standing: "gone", watched_at: null });
  assert.equal(page.parts.change.textContent, "338");
});
