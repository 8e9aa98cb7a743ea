/**
 * The pages of the dashboard that mails lead to. A token is behind the #, which browsers send to no server: it is in no log
 * and in no Referer header.
 */
export type PersonPage = "setup" | "sign-up" | "verify" | "reset" | "email" | "invitation" | "sign-in" | "account";

export const pageUrl = (baseUrl: string, page: PersonPage, token?: string): string =>
  `${baseUrl}/app/${page}${token === undefined ? "" : `#${token}`}`;
