import type { Control } from "../proof.ts";

const attempts = "limits/account-attempts.ts";

/** Mistakes that a reader of the code could overlook. */
export const controls: readonly Control[] = [
  {
    name: "strangers that are counted one by one",
    edits: [{ file: attempts, from: "[...pair, ...all]);", to: "pair);" }],
    plays: ["embedded_many"],
    breaks: ["embedded_many.admitted"],
  },
  {
    name: "a network that may try every account",
    edits: [{ file: attempts, from: "max: triesPerNetworkAndHour, window", to: "max: null, window" }],
    plays: ["embedded_spray"],
    breaks: ["embedded_spray.admitted"],
  },
  {
    name: "an address that may try without a pause",
    edits: [{ file: attempts, from: '{ name: "Minute", max: 5,', to: '{ name: "Minute", max: 5_000,' }],
    plays: ["embedded_one"],
    breaks: ["embedded_one.admitted"],
  },
  {
    name: "a known browser that is treated like a stranger",
    edits: [
      {
        file: "people/sign-in/sign-in.ts",
        from: 'return account && browsers.nameFor(request.headers.get("cookie"), account.person.id);',
        to: 'return request.headers.has("never") ? browsers.nameFor(null, (account as Account).person.id) : undefined;',
      },
    ],
    plays: ["embedded_many"],
    breaks: ["embedded_many.owner_by_browser"],
  },
  {
    name: "a request for a link that voids the one before",
    edits: [{ file: "people/tokens.ts", from: ".offset(tokensMost)", to: ".offset(1)" }],
    plays: ["embedded_many"],
    breaks: ["embedded_many.owner_by_mail"],
  },
  {
    name: "an account that is told apart from none",
    edits: [
      {
        file: "people/sign-in/sign-in.ts",
        from: "if (!isRight || account === undefined) throw signInFailed();",
        to: 'if (account === undefined) throw new Problem("not_found", "No such account.");\n      if (!isRight) throw signInFailed();',
      },
    ],
    plays: ["embedded_spray"],
    breaks: ["embedded_spray.answers"],
  },
  {
    name: "guesses of tokens that are not counted",
    edits: [
      {
        file: "people/sign-in/api.ts",
        from: "const seconds = await guesses.missed(c.env.address);",
        to: "const seconds = guesses.blockedFor(c.env.address);",
      },
    ],
    plays: ["embedded_tokens"],
    breaks: ["embedded_tokens.admitted"],
  },
  {
    name: "wrong codes that are given back",
    edits: [
      {
        file: "people/factors/codes.ts",
        from: 'if (!(error instanceof Problem && error.code === "wrong_code")) await attempt.undo();',
        to: "await attempt.undo();",
      },
    ],
    plays: ["embedded_codes"],
    breaks: ["embedded_codes.admitted", "embedded_codes.admitted_from_one"],
  },
  {
    name: "an owner's browser that shares the codes of strangers",
    edits: [
      {
        file: "server/factors.ts",
        from: "attempts.begin({ account, address, browser })",
        to: "attempts.begin({ account, address, browser: browser && undefined })",
      },
    ],
    plays: ["embedded_codes"],
    breaks: ["embedded_codes.owner_by_browser"],
  },
  {
    name: "a step of the app that is accepted again",
    edits: [
      {
        file: "people/factors/totp.ts",
        from: '.where((row) => row.or([row("totp_step", "is", null), row("totp_step", "<", step)])),',
        to: '.where((row) => row.or([row("totp_step", "is", null), row("totp_step", "<=", step)])),',
      },
    ],
    plays: ["embedded_replay"],
    breaks: ["embedded_replay.accepted_app"],
  },
  {
    name: "a recovery code that is accepted again",
    edits: [
      {
        file: "people/factors/recovery-codes.ts",
        from: '.where("hash", "=", hash)\n    .where("used_at", "is", null)',
        to: '.where("hash", "=", hash)',
      },
    ],
    plays: ["embedded_replay"],
    breaks: ["embedded_replay.accepted_recovery"],
  },
];
