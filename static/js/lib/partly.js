// Client ids of several connections: a broker asks one of these processes, and what the others hold nobody knows. Pure.
import { gettext } from "./words.js";

/** Why it is unknown who has what nobody is known to have: `inPart` are such ids, none where somebody does not answer at all. */
export const noAnswer = (inPart = []) => (inPart.length ? gettext("unknown: not each connection of a member can be asked") : gettext("unknown: no answer"));
