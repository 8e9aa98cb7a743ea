import type { Mistakes } from "../mistake.ts";

const suite = ["test/conformance/people.test.ts"];
const rules = ["src/people/password-rules.test.ts"];
const signIn = ["test/e2e/sign-in.test.ts"];
const mails = ["test/e2e/account-mails.test.ts"];

/** Of accounts, passwords, tokens and sessions. */
export const peopleSignIn: Mistakes = {
  "old-password-after-a-reset": {
    file: "people/sign-in/sign-in.ts",
    from: "?.password_hash !== passwordHash) throw signInFailed();",
    to: "?.password_hash === null) throw signInFailed();",
    tests: suite,
    only: "the old password starts no session",
  },
  "old-password-asks-for-a-code": {
    file: "people/factors/second-step.ts",
    from: "await before?.(trx);\n        const data",
    to: "const data",
    tests: suite,
    only: "the old password starts no session",
  },
  "passkey-of-an-ended-session": {
    file: "people/factors/second-factors.ts",
    from: "await sessions.requireIn(trx, by);",
    to: "",
    tests: suite,
    only: "a passkey is not added in a session",
  },
  "refused-passkey-not-recorded": {
    file: "people/factors/passkey-api.ts",
    from: 'if (person !== undefined) noteRefused("passkey");',
    to: "",
    tests: ["test/e2e/passkeys.test.ts"],
    only: "SQLite.*what is refused is a row",
  },
  "refused-company-sign-in-of-anybody": {
    file: "people/factors/sign-in-api.ts",
    from: "person: person ?? account?.person.id,",
    to: "person,",
    tests: ["test/e2e/oidc.test.ts"],
    only: "SQLite.*what is refused is a row",
  },
  "passkey-removed-without-proof": {
    file: "people/factors/passkey-api.ts",
    from: 'await proofs.require({ ...c.req.valid("json"), signedIn, from: askedFrom(c), acceptsFresh: true });\n    if (!(await factors.removePasskey',
    to: "if (!(await factors.removePasskey",
    tests: ["test/e2e/passkeys.test.ts"],
    only: "SQLite.*cannot remove one",
  },
  "account-ended-by-an-old-session": {
    file: "people/factors/proof.ts",
    from: "acceptsFresh || !(person.hasPassword || person.hasTotp);\n      if (isFreshEnough && clock.now() - session.provedAt < provedForMs) return;",
    to: "acceptsFresh || !(person.hasPassword || person.hasTotp);\n      if (isFreshEnough || session.provedAt > 0) return;",
    tests: ["test/e2e/second-factors.test.ts"],
    only: "SQLite.*a code ends the account",
  },
  "planted-session-goes-on": {
    file: "people/sign-in/finish.ts",
    from: "if (former !== undefined) await sessions.endIn(trx, former.personId, { only: former.id });",
    to: "",
    tests: signIn,
    only: "a session that was in the browser before",
  },
  "disabled-account-signs-in": {
    file: "people/sign-in/finish.ts",
    from: "if (found?.disabled_at === null) return;",
    to: "if (found !== undefined) return;",
    tests: suite,
    only: "disabling ends sessions",
  },
  "entry-of-another-person-counts": {
    file: "people/sign-in/known-browsers.ts",
    from: "`${person} ${name} ${untilDay}`",
    to: "`${person.slice(0, 3)} ${name} ${untilDay}`",
    tests: suite,
    only: "an entry of one person",
  },
  "token-of-another-kind-works": {
    file: "people/tokens.ts",
    from: '    .deleteFrom("person_tokens")\n    .where("hash", "=", hash)\n    .where("kind", "=", kind)\n',
    to: '    .deleteFrom("person_tokens")\n    .where("hash", "=", hash)\n    .where("kind", ">=", kind.slice(0, 0) as never)\n',
    tests: suite,
    only: "a token works once",
  },
  "expired-token-works": {
    file: "people/tokens.ts",
    from: '    .where("kind", "=", kind)\n    .where("expires_at", ">", now)\n    .returning',
    to: '    .where("kind", "=", kind)\n    .returning',
    tests: suite,
    only: "a token works once",
  },
  "reset-keeps-sessions": {
    file: "people/sign-in/reset.ts",
    from: 'await sessions.endIn(trx, id, "all");',
    to: "",
    tests: mails,
    only: "a reset goes to the stored address only",
  },
  "new-password-keeps-links": {
    file: "people/people.ts",
    from: "await tokens.void(trx, person.id);\n      await trx.deleteFrom",
    to: "await trx.deleteFrom",
    tests: mails,
    only: "a reset goes to the stored address only",
  },
  "password-change-keeps-sessions": {
    file: "people/account-changes.ts",
    from: "await sessions.endIn(trx, person.id, { except: session.id });",
    to: "",
    tests: signIn,
    only: "a new password needs the old one",
  },
  "somebody-else-confirms-an-address": {
    file: "people/account-changes.ts",
    from: "if (peeked?.person !== person.id) throw invalidToken();",
    to: "if (peeked === undefined) throw invalidToken();",
    tests: mails,
    only: "a new address is used once",
  },
  "second-set-up-gets-in": {
    file: "people/sign-in/setup.ts",
    from: "if (await hasOperator(trx)) throw setUpAlready();",
    to: "",
    tests: suite,
    only: "makes one operator",
  },
  "account-told-by-its-answer": {
    file: "people/sign-in/sign-in.ts",
    from: "if (!isRight || account === undefined) throw signInFailed();",
    to: 'if (!isRight || account === undefined) throw account?.disabledAt ? new Problem("forbidden", "Disabled.") : signInFailed();',
    tests: signIn,
    only: "get the same answer",
  },
  "password-of-an-account-without-one": {
    file: "people/sign-in/account-password.ts",
    from: "return answer && found !== null && found !== undefined;",
    to: "return answer || found === null;",
    tests: signIn,
    only: "get the same answer",
  },
  "long-password-hashed": {
    file: "people/password-rules.ts",
    from: "password.length <= passwordMostBytes && Buffer.byteLength(password) <= passwordMostBytes",
    to: "password.length <= passwordMostBytes",
    tests: rules,
  },
  "leading-digits-hide-a-word": {
    file: "people/first-guesses.ts",
    from: "if (isRun(text) || isRepeated(text)) return true;",
    to: "if (isRepeated(text)) return true;",
    tests: rules,
  },
  "session-ends-never-without-use": {
    file: "people/sessions.ts",
    from: "now < expiresAt && now - Math.max(seenAt, seen.get(id) ?? 0) < idleMs;",
    to: "now < expiresAt;",
    tests: suite,
    only: "ends without use",
  },
  "session-used-for-ever": {
    file: "people/sessions.ts",
    from: "now < expiresAt && now - Math.max(seenAt, seen.get(id) ?? 0) < idleMs;",
    to: "now - Math.max(seenAt, seen.get(id) ?? 0) < idleMs;",
    tests: suite,
    only: "ends without use",
  },
};
