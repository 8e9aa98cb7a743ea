import { Problem } from "../../base/errors.ts";

/** Which email domains must sign in at their company (OIDC). Decided by the domain alone, so that it tells nothing of accounts. */
export interface CompanyDomains {
  /** Of an address in the form of `mailboxOf`. */
  isRequired(mailbox: string): boolean;
}

export const noCompanyDomains: CompanyDomains = { isRequired: () => false };

export function refuseCompanyDomain({ isRequired }: CompanyDomains, mailbox: string): void {
  if (!isRequired(mailbox)) return;
  throw new Problem("company_sign_in", "People with this email domain sign in with their company account.");
}
