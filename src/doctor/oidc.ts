import { withDeadline } from "../base/deadline.ts";
import { examineProvider } from "../people/factors/oidc-client.ts";
import { type Check, fail, ok } from "./finding.ts";

const name = "company sign-in";
const deadlineMs = 10_000;

/** Whether the company's OpenID provider describes itself, under the name that is set, and has keys. Nobody is signed in. */
export const checkProvider: Check = async (config) => {
  const { QL_OIDC_ISSUER: issuer, QL_OIDC_CLIENT_ID: clientId, QL_OIDC_CLIENT_SECRET: clientSecret } = config;
  if (issuer === undefined || clientId === undefined) return [];
  try {
    const { keys } = await withDeadline(
      examineProvider({ issuer, clientId, clientSecret }),
      deadlineMs,
      "the OpenID provider",
    );
    if (keys > 0) return [ok(name, `the provider at ${new URL(issuer).host} answers, and has keys to sign with`)];
    throw new Error("the provider has no keys, so that nothing it signs can be checked");
  } catch (error) {
    const advice =
      "Fix QL_OIDC_ISSUER, or start the provider. Until then, people of the company cannot sign in; sessions keep working.";
    return [fail(name, error, advice)];
  }
};
