// What is shown stands in the URL, so that it can be sent to somebody else.

/** Set parameters of the page's address; null takes one out. No step of the browser's history. */
export function setQuery(values) {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(values)) {
    if (value === null) query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  history.replaceState(null, "", text ? `?${text}` : location.pathname);
}

/** The queue in the address, `topic/broker/id`, as its three parts; null is none. */
export function queryQueue() {
  const key = new URLSearchParams(location.search).get("queue");
  const found = key?.match(/^(.*)\/([^/]*)\/(\d+)$/s);
  return found ? [found[1], found[2], Number(found[3])] : null;
}
