import { systemClock } from "../base/clock.ts";
import { OperatorError } from "../base/errors.ts";
import { replaceSecret } from "../base/secret-file.ts";
import type { SigningKey } from "../base/signature.ts";
import {
  dayOf,
  rotated,
  saltKey,
  signingKeysMost,
  verifyDays,
  verifying,
  writeSigningKeys,
} from "../base/signing-keys.ts";
import type { Config } from "../config/config.ts";
import { prepareDataFolder, secretPath, withSecrets } from "../config/data-folder.ts";
import { say } from "./print.ts";

/**
 * `quicklink secrets rotate --signing`. A server reads its keys when it starts and keeps them: it continues to sign
 * with what is then a previous key, which still verifies. So no server needs to be stopped.
 */
export function rotateSigning(config: Config, forget: boolean): void {
  if (config.ownSecrets.has("QL_SIGNING_KEYS")) rotateOwn(config, forget);
  else rotateGiven(config, forget);
}

function rotateGiven(config: Config, forget: boolean): void {
  const before = config.QL_SIGNING_KEYS ?? [saltKey(config.QL_CODE_SALT ?? "")];
  const after = next(before, forget);
  const [first] = after;
  if (first === undefined) return;
  if (forget) {
    say(`Set this on every server, and restart them all. Existing signatures become invalid.\n\n${line(after)}`);
    return;
  }
  say(
    `1. Set this on every server, and restart each one. The new key "${first.id}" then verifies but does not sign yet.
   (With one server, skip this step.)

${line([...verifying(before, systemClock.now()), first])}

2. When all servers run with it, set this on every server, and restart each one. The new key then signs.

${line(after)}

${kept(after)}`,
  );
}

function rotateOwn(config: Config, forget: boolean): void {
  prepareDataFolder(config);
  const keys = next(withSecrets(config).QL_SIGNING_KEYS, forget);
  replaceSecret(secretPath(config.QL_DATA, "QL_SIGNING_KEYS"), writeSigningKeys(keys));
  say(`Key "${keys[0]?.id}" signs after the next server start.`);
  say(kept(keys));
}

function next(before: readonly SigningKey[], forget: boolean): readonly SigningKey[] {
  const [first, ...former] = rotated(before, systemClock.now());
  if (first === undefined) return [];
  if (forget) return [first];
  if (former.length < signingKeysMost) return [first, ...former];
  const soonest = Math.min(...former.map(({ until = 0 }) => until));
  throw new OperatorError(
    `${former.length} previous keys still verify, and the limit is ${signingKeysMost} keys. The next one ends on ${dayOf(soonest)}.\n` +
      "  To drop them all now: quicklink secrets rotate --signing --forget",
  );
}

const line = (keys: readonly SigningKey[]): string => `QL_SIGNING_KEYS=${writeSigningKeys(keys)}`;

function kept([, ...former]: readonly SigningKey[]): string {
  if (former.length === 0) return "No previous key verifies any more. Restart the server now.";
  const names = former.map(({ id, until = 0 }) => `"${id}" until ${dayOf(until)}`).join(", ");
  return `Existing signatures stay valid for ${verifyDays} days: ${names}.`;
}
