// A group's state as its row of the overview says it, so that its own page says it in the same words. Pure.
import { count, unpack } from "../live/runs.js";
import { isPartial, isProxied, isUnasked } from "./owners.js";

export function rowOf({ head, members }, queues) {
  return {
    rebalanced_at: 1,
    queues,
    model: head.model,
    members: head.are_members_known === false ? null : members.length,
    silent: members.filter((cell) => cell.held === null).length,
    unasked: members.filter(isUnasked).length,
    proxied: members.filter(isProxied).length,
    popping: head.popping ?? 0,
    partial: members.filter(isPartial).length,
    orphans: head.orphans,
    doubles: head.doubles,
    perhaps_twice: count(head.perhaps_twice ?? []),
    disputed: count(head.disputed ?? []),
    perhaps_orphans: perhapsOrphans(head.disputed ?? [], members),
    is_converged: head.is_converged,
    untold: head.untold?.length ?? 0,
  };
}

/** How many of the queues of which NameServers disagree nobody is known to hold. */
function perhapsOrphans(disputed, members) {
  if (!disputed.length) return 0;
  const held = new Set(members.flatMap((cell) => unpack(cell.held ?? [])));
  return unpack(disputed).filter((number) => !held.has(number)).length;
}
