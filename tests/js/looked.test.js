import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { lookWords } from "../../static/js/lib/looked.js";

const NOW = 1000000;
const STALE_MS = 20000;

/** As `AsOf.ageOf` gives it. */
function silentFor(watched) {
  if (watched === null) return Infinity;
  return NOW - watched > STALE_MS ? NOW - watched : null;
}

test("how old a row is is said as Python says it", () => {
  for (const { looked_at: lookedAt, watched_at: watched, is_old: isOld, short, words } of JSON.parse(readFileSync("tests/words/looks.json"))) {
    assert.deepEqual(lookWords({ lookedAt, silent: silentFor(watched), now: NOW }), { isOld, short, words });
  }
});
