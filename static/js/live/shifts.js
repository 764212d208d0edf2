// How queues change owners: member by member, or as runs of queues whose owners shift alike. `dashboard/push/shifts.py`
// writes them, and says how.
import { differ, packed } from "./runs.js";

/** Everybody in one line: the members now, and whoever has left behind whom it stood behind. */
export function lineUp(old, now) {
  const here = new Set(now);
  const left = new Map();
  let previous = null;
  for (const client of old) {
    if (here.has(client)) previous = client;
    else if (left.has(previous)) left.get(previous).push(client);
    else left.set(previous, [client]);
  }
  return [null, ...now].flatMap((each) => [...(each === null ? [] : [each]), ...(left.get(each) ?? [])]);
}

/** The queues after it of all whose queues change; `before` are the queues by client, `members` who is one after it. */
export function changed(before, owners, line, members) {
  const found = new Map();
  const { queues, gaps, lengths, shifts } = owners;
  if (owners.members.length !== queues.length) throw new RangeError("each member that changes needs its queues");
  owners.members.forEach((number, i) => {
    const client = members[number];
    if (client === undefined) throw new RangeError(`member ${number} of ${members.length} got other queues`);
    found.set(client, differ(before.get(client) ?? [], queues[i]));
  });
  if (gaps.length) shift(before, { gaps, lengths, shifts }, line, found);
  return found;
}

function shift(before, { gaps, lengths, shifts }, line, found) {
  const size = sum(gaps) + sum(lengths);
  if (lengths.length !== gaps.length || shifts.length !== gaps.length || [...gaps, ...lengths].some((each) => each < 0)) {
    throw new RangeError("a run is a gap and a length from 0 up, and a shift");
  }
  const places = placesOf(before, line, size);
  const touched = new Set();
  let at = 0;
  gaps.forEach((gap, i) => {
    at += gap;
    for (const end = at + lengths[i]; at < end; at++) {
      touched.add(places[at]);
      places[at] += shifts[i];
      touched.add(places[at]);
    }
  });
  const numbers = new Map([...touched].map((place) => [place, []]));
  places.forEach((place, queue) => numbers.get(place)?.push(queue));
  for (const [place, queues] of numbers) {
    if (place < 0 || place > line.length) throw new RangeError(`owners shift to place ${place} of ${line.length}`);
    if (place) found.set(line[place - 1], packed(queues));
  }
}

/** Each queue's owner by its place from 1, 0 where it has none. */
function placesOf(before, line, size) {
  const all = line.map((client) => before.get(client) ?? []);
  const places = new Int32Array(all.reduce((most, runs) => Math.max(most, sum(runs)), size));
  all.forEach((runs, i) => {
    for (let k = 0, at = 0; k < runs.length; k += 2) {
      at += runs[k];
      for (const end = at + runs[k + 1]; at < end; at++) {
        if (places[at]) throw new RangeError("owners shift, but a queue has two");
        places[at] = i + 1;
      }
    }
  });
  return places;
}

const sum = (numbers) => numbers.reduce((all, each) => all + each, 0);
