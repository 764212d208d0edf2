// A group's state as its row of the overview says it, so that its own page says it in the same words. Pure.
import { count } from "../live/runs.js";
import { isProxied, isUnasked } from "./owners.js";

export function rowOf({ head, members }, queues) {
  return {
    rebalanced_at: 1,
    queues,
    model: head.model,
    members: head.are_members_known === false ? null : members.length,
    silent: members.filter((cell) => cell.held === null).length,
    unasked: members.filter(isUnasked).length,
    proxied: members.filter(isProxied).length,
    orphans: head.orphans,
    doubles: head.doubles,
    perhaps_twice: count(head.perhaps_twice ?? []),
    disputed: count(head.disputed ?? []),
    is_converged: head.is_converged,
    untold: head.untold?.length ?? 0,
  };
}
