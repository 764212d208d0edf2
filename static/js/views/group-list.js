// The overview's list: rows that are shown are kept true in place, and new ones put in theirs where the list is whole.
// What cannot be placed is only told of, so that nothing jumps: scroll, filter and focus stay as they are.
import { before, compare, misplaced } from "../lib/order.js";
import { fill, ngettext } from "../lib/words.js";
import { shown } from "../lib/shown.js";
import { unpack } from "../live/runs.js";

const MOST = 100; // rows of a page

export class GroupList {
  #list;
  #note;
  #template;
  #facts;
  #known;
  #new = new Set();
  #elsewhere = new Map(); // rows of other pages, as they were pushed

  constructor(page, facts) {
    this.#list = page.querySelector("#groups");
    this.#note = page.querySelector(".list-news");
    this.#template = page.querySelector("#row");
    this.#facts = facts;
    this.#known = new Set(unpack(facts.known));
    this.items = new Map([...this.#list.querySelectorAll("li[data-id]")].map((item) => [Number(item.dataset.id), item]));
    this.rows = new Map(facts.rows.map((row) => [row.id, { ...row, lag: facts.smalls[row.id]?.lag ?? null }]));
  }

  /** Take a row that came by a stream; whether it is shown. */
  take(row, stream) {
    if (!this.items.has(row.id) && !this.#put(row, stream)) {
      if (this.#known.has(row.id)) this.#elsewhere.set(row.id, row);
      else this.#new.add(row.id);
      return false;
    }
    this.items.get(row.id).removeAttribute("data-gone");
    this.rows.set(row.id, { ...row, lag: this.rows.get(row.id)?.lag ?? null }); // which comes with no push
    return true;
  }

  /** How far a group is behind now, by what the list may be sorted. */
  isBehind(id, lag) {
    this.rows.set(id, { ...this.rows.get(id), lag });
  }

  drop(id) {
    this.items.get(id)?.toggleAttribute("data-gone", true);
    this.#new.delete(id);
    this.#elsewhere.delete(id);
  }

  /** Tell of what has no place, or another one. */
  tell() {
    const moved = this.#misplaced();
    const words = [];
    if (this.#new.size) words.push(fill(ngettext("%(n)s new group.", "%(n)s new groups.", this.#new.size), { n: this.#new.size }));
    if (moved) words.push(fill(ngettext("%(n)s group has another place in this order now.", "%(n)s groups have another place in this order now.", moved), { n: moved }));
    const news = this.#note.querySelector('[data-is="news"]');
    const text = words.join(" ");
    if (news.textContent !== text) news.textContent = text;
    this.#note.hidden = !text;
  }

  #put(row, stream) {
    if (!this.#facts.list.is_whole || this.items.size >= MOST || this.#known.has(row.id)) return false;
    const item = this.#template.content.querySelector("li").cloneNode(true);
    item.dataset.id = row.id;
    item.dataset.stream = stream;
    const link = item.querySelector('[data-is="group"]');
    link.href = `${location.pathname}groups/${row.id}/`;
    link.textContent = shown(row.group, 80);
    item.querySelector('[data-is="cluster"]').textContent = shown(this.#facts.clusters[stream], 60);
    const next = before(row, this.#shown(), this.#facts.list.sort);
    this.#list.insertBefore(item, next === null ? null : this.items.get(next));
    this.#list.parentElement.querySelector('[data-is="empty"]')?.remove();
    this.items.set(row.id, item);
    return true;
  }

  /** The rows in the order in which they stand. */
  #shown() {
    const items = [...this.#list.querySelectorAll("li[data-id]:not([data-gone])")];
    return items.map(({ dataset }) => this.rows.get(Number(dataset.id))).filter(Boolean);
  }

  #misplaced() {
    const { sort, is_filtered: isFiltered, number } = this.#facts.list;
    const rows = this.#shown();
    const [first, last] = [rows[0], rows.at(-1)];
    const isOfHere = (row) => compare(row, last, sort) < 0 && (number === 1 || compare(row, first, sort) > 0);
    const come = last && !isFiltered ? [...this.#elsewhere.values()].filter(isOfHere).length : 0;
    return misplaced(rows, sort) + come;
  }
}
