import { plural, texts } from "./texts.ts";

export const settingsTexts = texts({
  title: "Settings",
  tabs: {
    general: "General",
    keys: "API keys",
    email: "Email",
    shares: "Shared reports",
    log: "Log",
  },
  tabsLabel: "Settings",
  couldNotLoad: "Could not load the settings.",
  workspace: "Workspace",
  workspaceText: "Its name, and its part of the dashboard’s addresses.",
  name: "Name",
  slug: "Address",
  slugHint:
    "Lower-case letters, digits and hyphens. Addresses of the dashboard that you have sent to others change with it.",
  branding: "Branding",
  brandingText:
    "Shown on the pages that visitors see instead of a destination: expired, over its limit, password, preview and reports that you share.",
  brandName: "Name for visitors",
  brandNameHint: "Leave empty to show no name.",
  colour: "Colour",
  colourHint: (light: string, dark: string) =>
    light === dark
      ? "Readable on light and dark pages."
      : `Used as ${light} on light pages and ${dark} on dark ones, so that it can be read.`,
  colourEmpty: "Leave empty for the standard colour.",
  logo: "Logo",
  logoHint: "PNG, WebP or SVG, at most 64 kB.",
  logoChoose: "Choose a file",
  logoRemove: "Remove the logo",
  logoTooBig: "This file has more than 64 kB. Choose a smaller one.",
  logoAlt: "The logo as visitors see it",
  preview: "Preview",
  previewText: "This link has expired",
  statistics: "Statistics",
  statisticsText: "How clicks are counted in this workspace.",
  timeZone: "Time zone",
  timeZoneHint: "Days, weeks and months of reports begin here. A change begins with the next day.",
  facts: "Record facts about visitors",
  factsHint:
    "Country, device, browser, source and language; never an IP address or a cookie. When off, only the time is kept.",
  eventDays: "Keep single clicks for",
  eventDaysSuffix: (count: number) => plural(count, "day", "days"),
  eventDaysHint: (days: string, least: string) =>
    `Leave empty for as long as the plan allows. Now: ${days}; never less than ${least}. Totals are kept for good.`,
  forGood: "for good",
  days: (count: number, formatted: string) => `${formatted} ${plural(count, "day", "days")}`,
  danger: "Export or delete",
  dangerText: "Take everything with you: links, tags, domains, settings, members, files and clicks by day.",
  export: "Export the workspace",
  delete: "Delete the workspace",
  deleteTitle: (name: string) => `Delete ${name}?`,
  deleteText:
    "All its links stop working at once. Within 30 days an owner can restore it under Account; then it is erased.",
  deleteConfirm: (slug: string) => `Type ${slug} to confirm`,
  deleteMismatch: "This is not the address of the workspace.",
  saved: "Saved",
  comboClear: "Clear",
  comboOpen: "Show time zones",
  comboEmpty: "No time zone has this name.",
});
