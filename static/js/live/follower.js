// One stream as one browser has it: which step it is at, and whether a message follows. Pure.
import { applyGroup, applyOverview } from "./apply.js";

const VERSIONS = { "group.diff": 2 }; // of 1 it named members by their ids; other kinds are of version 1
const STEPS = { "group.snapshot": applyGroup, "group.diff": applyGroup, "overview.snapshot": applyOverview,
  "overview.diff": applyOverview };

export class Follower {
  constructor(stream, { seq = null, state = null } = {}) {
    this.stream = stream;
    this.seq = seq;
    this.state = state;
  }

  /** `applied`, `old` (had it), `pulse`, or `gap`: something is missing or not understood, ask again. */
  receive(message) {
    if (message.stream !== this.stream) return "old";
    if (message.kind === "pulse") return (this.seq ?? 0) < message.seq ? "gap" : "pulse";
    const apply = STEPS[message.kind];
    if (!apply || message.v !== (VERSIONS[message.kind] ?? 1)) return this.#loseStep();
    const isWhole = message.kind.endsWith(".snapshot");
    if (this.seq !== null && message.seq <= this.seq && !(isWhole && message.seq === this.seq)) return "old";
    if (!isWhole && message.seq !== (this.seq ?? -1) + 1) return "gap";
    try {
      this.state = apply(this.state, message);
    } catch {
      return this.#loseStep();
    }
    this.seq = message.seq;
    return "applied";
  }

  #loseStep() {
    this.seq = null; // asks for a snapshot
    return "gap";
  }
}
