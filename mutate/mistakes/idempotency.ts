import type { Mistakes } from "../mistake.ts";

const answers = ["test/conformance/answers.test.ts"];

export const idempotency: Mistakes = {
  "other-request-answered": {
    file: "idempotency/answers.ts",
    from: 'if (row.fingerprint !== fingerprint) return { kind: "mismatch" };',
    to: "",
    tests: answers,
  },
  "key-kept-for-ever": {
    file: "idempotency/answers.ts",
    from: '.doUpdateSet(fresh).where("idempotency.expires_at", "<=", sql.now),',
    to: '.doUpdateSet(fresh).where("idempotency.expires_at", "<=", 0),',
    tests: answers,
  },
  "kept-for-a-second": {
    file: "idempotency/answers.ts",
    from: "const keptMs = dayMs;",
    to: "const keptMs = dayMs / 1_000;",
    tests: answers,
  },
  "claim-of-another-finished": {
    file: "idempotency/answers.ts",
    from: '      .where("claim", "=", claim)\n      .where("state", "=", "running");\n  const renew',
    to: '      .where("state", "=", "running");\n  const renew',
    tests: answers,
  },
  "two-take-over-at-once": {
    file: "idempotency/answers.ts",
    from: '      .where("claim", "=", former)\n',
    to: "",
    tests: answers,
  },
  "unrepeatable-runs-again": {
    file: "idempotency/answers.ts",
    from: 'if (!repeatable) return { kind: "unknown" };',
    to: "",
    tests: answers,
  },
  "answer-readable-without-the-key": {
    file: "idempotency/derived-ids.ts",
    from: 'createCipheriv("aes-256-gcm", bytes("seal"), nonce)',
    to: 'createCipheriv("aes-256-gcm", Buffer.alloc(32), nonce)',
    tests: answers,
  },
  "ids-follow-from-the-seed-alone": {
    file: "idempotency/derived-ids.ts",
    from: 'const root = createHmac("sha256", serverSecret)',
    to: 'const root = createHmac("sha256", "")',
    tests: ["src/idempotency/derived-ids.test.ts"],
  },
};
