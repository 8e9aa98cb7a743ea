import { ApiError, call } from "../../api/call.ts";
import { messageOf } from "../../forms.ts";
import { verifyTexts as t, visitorTexts } from "../../texts/sign-in.ts";
import { useOnce } from "./options.ts";
import { Action, ActionLink, VisitorPage, Working } from "./visitor-page.tsx";

/** Confirms the address of an account: opening the link is all that is needed. */
export function VerifyPage() {
  const token = location.hash.slice(1);
  const done = useOnce(() => call("POST /api/auth/verify", { body: { token } }));
  if (done.kind === "loading") return <Working label={t.working} />;
  if (done.kind === "loaded") {
    return (
      <VisitorPage title={t.doneTitle} lead={t.doneText}>
        <ActionLink href="/app/">{visitorTexts.continue}</ActionLink>
      </VisitorPage>
    );
  }
  if (done.error instanceof ApiError && done.error.code === "token_invalid") {
    return (
      <VisitorPage title={t.goneTitle} lead={t.verifyGone}>
        <ActionLink href="/app/account#email">{t.toAccount}</ActionLink>
      </VisitorPage>
    );
  }
  return (
    <VisitorPage title={t.failedTitle} lead={messageOf(done.error)}>
      <Action type="button" onClick={() => location.reload()}>
        {t.tryAgain}
      </Action>
    </VisitorPage>
  );
}
