const slugMost = 63;

/** "Alder Coffee GmbH & Co." becomes "alder-coffee-gmbh-co". Letters without a plain form are left out. */
export const slugOf = (name: string): string =>
  name
    .replaceAll("ß", "ss")
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, slugMost)
    .replace(/^-+|-+$/g, "");
