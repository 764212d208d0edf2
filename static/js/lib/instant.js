// Going to an instant of a group's page: its address says which one.

/** The address of a page at an instant; what else it asks for stays. */
export function addressAt(search, at) {
  const query = new URLSearchParams(search);
  query.set("at", String(Math.round(at)));
  return `?${query}`;
}

export function goTo(at) {
  location.assign(addressAt(location.search, at));
}
