import { ApiError } from "./api/call.ts";
import { formatWait } from "./format.ts";
import { messageOf } from "./forms.ts";
import { errorTexts } from "./texts/errors.ts";

/** What to tell about a failed attempt: the API's words, and a limit with the time that is left. */
export function problemText(error: unknown, waitSeconds: number): string {
  const isLimit = error instanceof ApiError && error.status === 429 && waitSeconds > 0;
  return isLimit ? errorTexts.tooMany(formatWait(waitSeconds)) : messageOf(error);
}
