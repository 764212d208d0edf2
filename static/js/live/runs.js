// Sets of whole numbers as runs, skip, take, skip, take from 0; `dashboard/push/runs.py` writes them.

/** The numbers of a set, ascending. */
export function unpack(runs) {
  check(runs);
  const numbers = [];
  for (let i = 0, at = 0; i < runs.length; i += 2) {
    at += runs[i];
    for (let end = at + runs[i + 1]; at < end; at++) numbers.push(at);
  }
  return numbers;
}

/** The numbers that are in exactly one of two sets; applied to either, it gives the other. */
export function differ(one, other) {
  const edges = [...edgesOf(one), ...edgesOf(other)].sort((a, b) => a - b);
  const kept = [];
  for (const edge of edges) {
    if (kept.length && kept.at(-1) === edge) kept.pop();
    else kept.push(edge);
  }
  return kept.map((edge, i) => edge - (i ? kept[i - 1] : 0));
}

/** Numbers, ascending, as runs. */
export function packed(numbers) {
  const runs = [];
  let end = 0;
  for (const number of numbers) {
    if (number === end && runs.length) runs[runs.length - 1] += 1;
    else runs.push(number - end, 1);
    end = number + 1;
  }
  return runs;
}

/** How many numbers a set has. */
export function count(runs) {
  let sum = 0;
  for (let i = 1; i < runs.length; i += 2) sum += runs[i];
  return sum;
}

function edgesOf(runs) {
  check(runs);
  let at = 0;
  return runs.map((run) => (at += run));
}

function check(runs) {
  if (runs.length % 2 || runs.some((run) => !Number.isInteger(run) || run < 0)) {
    throw new RangeError(`runs are pairs of numbers from 0 up, not ${runs.slice(0, 10)}`);
  }
}
