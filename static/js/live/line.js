// Whether the page's line to the server is there. While it is known to be cut nobody asks: who wanted to is called when it
// is back. An answer that did not come casts doubt on the line. Touches no document.

export class Line {
  onDoubt = () => {};
  #status = null;
  #waiting = new Set();

  /** Known to be cut; before the first socket nothing is known. */
  get isCut() {
    return this.#status !== null && this.#status !== "open";
  }

  /** As `Socket` tells it: `open`, `away`, `logged out`, `refused`. */
  set(status) {
    this.#status = status;
    if (this.isCut) return;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const call of waiting) call();
  }

  whenBack(call) {
    this.#waiting.add(call);
  }

  doubt() {
    this.onDoubt();
  }
}

export const line = new Line();
