// Mounts the view that a page names. A view is a function of the page; it may give back what ends it.
import { mountKeys } from "./views/keys.js";
import { mountByConfig } from "./views/by-config.js";
import { mountFolding } from "./views/folding.js";
import { mountGlyphs } from "./views/glyphs.js";
import { mountCopying } from "./views/copying.js";
import { mountDemo } from "./views/demo.js";
import { mountGroup } from "./views/group.js";
import { mountLanguages } from "./views/languages.js";
import { mountOrders } from "./views/orders.js";
import { mountOverview } from "./views/overview.js";
import { mountPast } from "./views/past.js";
import { mountPauses } from "./views/pauses.js";
import { mountPlan } from "./views/plan.js";
import { mountProducers } from "./views/producers.js";
import { mountRound } from "./views/round.js";
import { mountRows } from "./views/rows.js";
import { mountScrolling } from "./views/scrolling.js";
import { mountWaiting } from "./views/waiting.js";

const VIEWS = {
  "by-config": mountByConfig,
  demo: mountDemo,
  group: mountGroup,
  overview: mountOverview,
  past: mountPast,
  pauses: mountPauses,
  plan: mountPlan,
  producers: mountProducers,
  receipt: (page) => mountOrders(page, location.href),
  round: mountRound,
};

mountKeys(document);
mountGlyphs(document);
mountLanguages(document);
mountRows(document);
mountCopying(document);
mountScrolling(document);
mountWaiting(document);
mountFolding(document);
const disconnect = VIEWS[document.body.dataset.view]?.(document);
addEventListener("pagehide", () => disconnect?.());
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload(); // came back out of the browser's cache: it is old
});
