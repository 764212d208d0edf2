// A by-config assignment as a document, `{"client id": ["topic/broker/0-3"]}`; `dashboard/plans/assignments.py` reads and
// writes the same. Pure.
const MOST = 100000;

/** Read a document: `[[client, topic, broker, id], ...]`, or null where it is none. */
export function readDocument(text) {
  let lists;
  try {
    lists = JSON.parse(text || "{}");
  } catch {
    return null;
  }
  if (lists === null || typeof lists !== "object" || Array.isArray(lists)) return null;
  const found = [];
  for (const [client, listed] of Object.entries(lists)) {
    if (!client || !Array.isArray(listed)) return null;
    for (const each of listed) {
      const queues = typeof each === "string" ? readQueues(each) : null;
      if (!queues || found.length + queues.length > MOST) return null;
      for (const queue of queues) found.push([client, ...queue]);
    }
  }
  return found;
}

/** Write a document of `[client, topic, broker, id]`; `clients` are in it also where they have nothing. */
export function writeDocument(pairs, clients = []) {
  const lists = new Map([...clients].map((client) => [client, []]));
  for (const [client, ...queue] of pairs) {
    if (!lists.has(client)) lists.set(client, []);
    lists.get(client).push(queue);
  }
  const names = [...lists.keys()].sort((a, b) => compare(a, b));
  if (!names.length) return "{}\n";
  const parts = names.map((client) => {
    const runs = runsOf(lists.get(client));
    return `  ${ascii(client)}: [${runs.length ? `\n    ${runs.map(ascii).join(",\n    ")}\n  ` : ""}]`;
  });
  return `{\n${parts.join(",\n")}\n}\n`;
}

function readQueues(text) {
  const found = text.match(/^(.+)\/([^/]+)\/(\d{1,10})(?:-(\d{1,10}))?$/s);
  if (!found) return null;
  const [, topic, broker, first, last = first] = found;
  const size = Number(last) - Number(first) + 1;
  if (size < 1 || size > MOST) return null;
  return Array.from({ length: size }, (_, i) => [topic, broker, Number(first) + i]);
}

function runsOf(queues) {
  const sorted = [...queues].sort((a, b) => compare(a[0], b[0]) || compare(a[1], b[1]) || a[2] - b[2]);
  const runs = [];
  for (const [topic, broker, id] of sorted) {
    const last = runs.at(-1);
    if (last && last[0] === topic && last[1] === broker && last[3] === id - 1) last[3] = id;
    else runs.push([topic, broker, id, id]);
  }
  return runs.map(([topic, broker, first, last]) => `${topic}/${broker}/${first}${last > first ? `-${last}` : ""}`);
}

const ascii = (text) => JSON.stringify(text).replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
