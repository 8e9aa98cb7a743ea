/** The cookie of people who do not want their own visits in reports. */
export const excludeCookie = "ql_exclude";

export const isExcluded = (cookies: string | null): boolean => cookies !== null && pattern.test(cookies);

const pattern = /(?:^|; ?)ql_exclude=1(?:;|$)/;
