// Going to an instant of a group's page: its address says which one.
import { settleQuery } from "./query.js";

/** The address of a page at an instant; what else it asks for stays. */
export function addressAt(search, at) {
  const query = new URLSearchParams(search);
  query.set("at", String(Math.round(at)));
  return `?${query}`;
}

export function goTo(at) {
  settleQuery();
  location.assign(addressAt(location.search, at));
}

/** The instant under a pointer, of a picture that shows the time from `since` to `until`. */
export function instantUnder(x, { left, width }, since, until) {
  const part = width > 0 ? Math.min(1, Math.max(0, (x - left) / width)) : 1;
  return Math.round(since + part * (until - since));
}
