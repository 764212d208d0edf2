// Names from outside: what cannot be seen, or would turn the line round, is written out. Pure.
// `dashboard/common/shown.py` writes the same; `tests/words/names.json` holds both to it.
const MOST_MARKS_ON_A_LETTER = 3; // combining ones: more of them would be drawn over the lines above and below
const ISOLATE = "\u2068";
const END = "\u2069";

const UNSEEN =
  /[\0-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u27e8\u2800\u3000\u3164\ud800-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{10ffff}]/u;
const WRITTEN_OUT = /\\u(0000|d[89a-f][0-9a-f]{2})/g; // as `dashboard/common/fields.py` writes it
const MARK = /\p{M}/u;
const TURNED =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]+(?: [\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]+)*/gu;
const PLAIN = /^(?! )[!-~]*(?: [!-~]+)*$/; // nearly every name: nothing to write out

/** A name, or a sentence with names in it, that cannot pose as another one; a longer one is cut in the middle. */
export function shown(stored, most = Infinity) {
  const name = asItWas(stored);
  if (name.length <= most && PLAIN.test(name)) return name;
  return cut(partsOf(name), most).join("").replace(TURNED, (word) => ISOLATE + word + END);
}

/** What no database takes was written out where it is stored, or in a row. */
const asItWas = (stored) => stored.replace(WRITTEN_OUT, (_, digits) => String.fromCharCode(parseInt(digits, 16)));

/** What is shown of each character. */
function partsOf(name) {
  const letters = [...name];
  let marks = 0;
  return letters.map((letter, i) => {
    const isMark = MARK.test(letter);
    marks = isMark ? marks + 1 : 0;
    const isLoose = isMark && (marks > MOST_MARKS_ON_A_LETTER || marks === i + 1);
    const isLostSpace = letter === " " && (i === 0 || i === letters.length - 1 || letters[i + 1] === " ");
    return UNSEEN.test(letter) || isLoose || isLostSpace ? `⟨U+${letter.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩` : letter;
  });
}

/** Beginning and end, three dots between; what was written out is never cut in two. */
function cut(parts, most) {
  if (parts.reduce((sum, part) => sum + lengthOf(part), 0) <= most) return parts;
  const half = Math.floor((most - 1) / 2);
  const head = fitting(parts, most - 1 - half);
  const tail = fitting(parts.toReversed(), half);
  return [...parts.slice(0, head), "…", ...parts.slice(parts.length - tail)];
}

const lengthOf = (part) => (part.startsWith("⟨") ? part.length : 1);

function fitting(parts, room) {
  const count = parts.findIndex((part) => (room -= lengthOf(part)) < 0);
  return count < 0 ? parts.length : count;
}
