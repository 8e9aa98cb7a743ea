import { texts } from "./texts.ts";

export const errorTexts = texts({
  unexpected: "Something went wrong. Try again; if it happens again, contact the operator of this server.",
  offline: "The server does not answer. Check your connection and try again.",
  disconnected: "You are offline. Nothing was sent: try again when you are connected.",
  noWorkspace: "You are not a member of this workspace, or it does not exist.",
  tooMany: (wait: string) => `Too many attempts. Try again in ${wait}.`,
  tryAgain: "Try again",
  notFoundTitle: "This page does not exist",
  notFoundText: "Check the address, or start from the overview.",
  toOverview: "Go to the overview",
  failedTitle: "This page could not be shown",
});
