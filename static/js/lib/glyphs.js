// The head of a round's stem: its shape tells the cause. In a box from -6 to 6.
const SHAPES = {
  "member joined": ["M0 -4.5 4.5 4 -4.5 4Z", false],
  "member left": ["M0 4.5 4.5 -4 -4.5 -4Z", true],
  "heartbeat expired": ["M-4 -4 4 4M-4 4 4 -4", true],
  "broker gone": ["M0 -5 5 0 0 5 -5 0Z", true],
  "broker back": ["M0 -5 5 0 0 5 -5 0Z", false],
  "route changed": ["M-4 -4H4V4H-4Z", true],
  "subscription changed": ["M-4.5 0A4.5 4.5 0 1 0 4.5 0A4.5 4.5 0 1 0 -4.5 0Z", true],
  "strategy changed": ["M-4 -4H4V4H-4Z", false],
  "config changed": ["M-4 -4H4V4H-4Z", false],
  "plan changed": ["M-4.5 0A4.5 4.5 0 1 0 4.5 0A4.5 4.5 0 1 0 -4.5 0Z", false],
  "held changed": ["M-4.5 -2.5H1V-5L5 0 1 5V2.5H-4.5Z", false],
  manual: ["M-5 0H5M0 -5V5", true],
  "many at once": ["M-2 -5 2 1 -6 1ZM2 -1 6 5 -2 5Z", false],
};
const QUESTION = ["M-2.5 -2.5C-2.5 -6 3 -6 3 -2.5 3 -.5 0 0 0 2M0 4.6V5", true];

/** The cause by which a member is gone: one that brokers saw off at once left, as the rounds say, whether it said so or its connection broke. */
export const causeOfDeparture = (departure) => (departure === "heartbeat expired" ? "heartbeat expired" : "member left");

/** Path and whether it is hollow. */
export const glyphOf = (cause) => SHAPES[cause] ?? QUESTION;
