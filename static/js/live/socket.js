// The page's one socket: follows streams, connects anew, asks for what was missed. Touches no document.
import { decode } from "./wire.js";

const SILENT_MS = 26000; // the server says something every 10 s
const DOUBTED_MS = 2500; // silence that proves a doubt: to connect anew costs little
const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 10000;
const NOT_AGAIN = new Set([4401, 4403]);

export class Socket {
  #url;
  #streams = new Map();
  #onStatus;
  #socket = null;
  #attempts = 0;
  #timer = null;
  #doubting = null;
  #heardAt = 0;
  #isEnded = false;
  #make;

  constructor(url, { onStatus = () => {}, make = (address) => new WebSocket(address) } = {}) {
    this.#url = url;
    this.#onStatus = onStatus;
    this.#make = make;
  }

  /** Follow a stream; `onMessage(message, result)` after each. */
  follow(follower, onMessage) {
    this.#streams.set(follower.stream, { follower, onMessage });
    this.#ask(follower);
  }

  /** Follow a stream no more, as one that is there no more. With the last of them all is heard: the line is ended. */
  leave(stream) {
    if (!this.#streams.delete(stream)) return;
    if (!this.#streams.size) this.close();
    else if (this.#socket?.readyState === 1) this.#socket.send(JSON.stringify({ unfollow: stream }));
  }

  open() {
    if (this.#isEnded) return;
    const socket = this.#make(this.#url);
    this.#socket = socket;
    socket.binaryType = "arraybuffer";
    let order = Promise.resolve(); // inflating takes a moment, and must not let messages overtake each other
    socket.onopen = () => {
      this.#heardAt = Date.now();
      this.#onStatus("open");
      for (const { follower } of this.#streams.values()) this.#ask(follower);
    };
    socket.onmessage = (event) => {
      this.#attempts = 0; // not when it opens: a server that refuses accepts first, to say why
      this.#heardAt = Date.now();
      order = order.then(() => decode(event.data)).then((message) => this.#take(message), () => this.#askForAll());
    };
    socket.onclose = (event) => this.#closed(socket, event.code);
    this.#watch();
  }

  close() {
    this.#isEnded = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#doubting);
    this.#socket?.close();
  }

  /** Something says that the line is cut: it is given up unless something is heard at once. */
  doubt() {
    const [doubted, heardAt] = [this.#socket, this.#heardAt];
    this.#doubting ??= setTimeout(() => {
      this.#doubting = null;
      if (this.#socket === doubted && this.#heardAt === heardAt && doubted?.readyState === 1) this.cut();
    }, DOUBTED_MS);
  }

  /** The network is said to be back: do not wait for the next try. */
  retry() {
    if (this.#isEnded || (this.#socket && this.#socket.readyState < 2)) return;
    clearTimeout(this.#timer);
    this.#attempts = 0;
    this.open();
  }

  /** Give it up, as where the network is broken: no farewell is waited for, which may never come. It connects anew. */
  cut() {
    const silent = this.#socket;
    if (!silent) return;
    this.#closed(silent, 1006);
    silent.onclose = silent.onmessage = silent.onopen = null;
    silent.close();
  }

  #take(message) {
    const found = this.#streams.get(message.stream);
    if (!found) return;
    const result = found.follower.receive(message);
    if (result === "gap") this.#ask(found.follower);
    try {
      found.onMessage(message, result);
    } catch (error) {
      reportError(error); // what cannot be shown is no reason to lose the message that comes next
    }
  }

  #ask({ stream, seq }) {
    if (this.#socket?.readyState === 1) this.#socket.send(JSON.stringify({ follow: stream, seq }));
  }

  #askForAll() {
    for (const { follower } of this.#streams.values()) {
      follower.seq = null;
      this.#ask(follower);
    }
  }

  #closed(socket, code) {
    if (socket !== this.#socket || this.#isEnded) return;
    clearTimeout(this.#timer);
    if (NOT_AGAIN.has(code)) {
      this.#isEnded = true;
      this.#onStatus(code === 4401 ? "logged out" : "refused");
      return;
    }
    this.#onStatus("away");
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#attempts++);
    this.#timer = setTimeout(() => this.open(), wait * (0.5 + Math.random() / 2));
  }

  #watch() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.#socket.readyState === 1 && Date.now() - this.#heardAt < SILENT_MS) this.#watch();
      else if (this.#socket.readyState > 1) this.#watch();
      else this.cut();
    }, SILENT_MS / 2);
  }
}
