// What is shown stands in the URL, so that it can be sent to somebody else.

const SOON_MS = 180;
let waiting = {};
let timer = null;

/** Set parameters a moment later, and of a burst the last: a browser takes no more than 200 addresses in ten seconds. */
export function setQuerySoon(values) {
  waiting = { ...waiting, ...values };
  clearTimeout(timer);
  timer = setTimeout(settleQuery, SOON_MS);
}

/** Write what waits for the address now: who leaves the page, or says where it is, takes it along. */
export function settleQuery() {
  setQuery({});
}

/** Set parameters of the page's address; null takes one out. No step of the browser's history. */
export function setQuery(values) {
  const query = new URLSearchParams(location.search);
  clearTimeout(timer);
  for (const [name, value] of Object.entries({ ...waiting, ...values })) {
    if (value === null) query.delete(name);
    else query.set(name, value);
  }
  waiting = {};
  const text = query.toString();
  history.replaceState(null, "", text ? `?${text}` : location.pathname);
}

/** The queue in the address, `topic/broker/id`, as its three parts; null is none. */
export function queryQueue() {
  const key = new URLSearchParams(location.search).get("queue");
  const found = key?.match(/^(.*)\/([^/]*)\/(\d+)$/s);
  return found ? [found[1], found[2], Number(found[3])] : null;
}
