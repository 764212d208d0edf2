// How much room words take in a drawing.
const PER_HAN = 12; // px

/** How wide words are, in px, at most: Chinese ones are as wide as high. */
export const widthOf = (words, perLetter) => [...words].reduce((sum, letter) => sum + (letter >= "\u2e80" ? PER_HAN : perLetter), 0);
