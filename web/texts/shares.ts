import { formatNumber } from "../format.ts";
import { plural, texts } from "./texts.ts";

export const shareTexts = texts({
  title: "Shared reports",
  description: "Public pages with the statistics of a link or tag. Share a link’s report from its page.",
  couldNotLoad: "Could not load the shared reports.",
  none: "No report is shared. Open a link and choose “Share report”.",
  toLinks: "Go to the links",
  tagged: (tag: string) => `Tag ${tag}`,
  deletedLink: "A deleted link",
  name: "Report",
  covers: (days: number) => plural(days, "last day", `last ${formatNumber(days)} days`),
  filters: "Filters",
  noFilters: "All clicks",
  password: "Password",
  expires: "Expires",
  created: "Created",
  open: "Open",
  copy: (name: string) => `Copy the address of ${name}`,
  stop: "Stop sharing",
  stopTitle: (name: string) => `Stop sharing “${name}”?`,
  stopText: "The page answers that it does not exist, at once and everywhere. This cannot be undone.",
  stopped: "The report is no longer shared.",
});
