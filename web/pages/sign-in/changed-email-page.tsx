import { ApiError, call } from "../../api/call.ts";
import { messageOf } from "../../forms.ts";
import { verifyTexts as t, visitorTexts } from "../../texts/sign-in.ts";
import { useOnce } from "./options.ts";
import { Action, ActionLink, VisitorPage, Working } from "./visitor-page.tsx";
import { forgetToken, signInFor, tokenOf } from "./where-to.ts";

/** Confirms a new address, in a session of the person who asked for it. */
export function ChangedEmailPage() {
  const done = useOnce(async () => {
    const token = tokenOf("email");
    try {
      const { email } = await call("POST /api/account/email/confirm", { body: { token } });
      forgetToken("email");
      return email;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
      signInFor("email", token);
      return await new Promise<never>(() => {});
    }
  });
  if (done.kind === "loading") return <Working label={t.working} />;
  if (done.kind === "loaded") {
    return (
      <VisitorPage title={t.changedTitle} lead={t.changedText(done.value)}>
        <ActionLink href="/app/">{visitorTexts.continue}</ActionLink>
      </VisitorPage>
    );
  }
  const code = done.error instanceof ApiError ? done.error.code : undefined;
  if (code === "token_invalid" || code === "email_taken") {
    forgetToken("email");
    const isTaken = code === "email_taken";
    return (
      <VisitorPage title={isTaken ? t.takenTitle : t.goneTitle} lead={isTaken ? messageOf(done.error) : t.changeGone}>
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
