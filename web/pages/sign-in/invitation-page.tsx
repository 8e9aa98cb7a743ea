import { useState } from "react";
import { ApiError, call } from "../../api/call.ts";
import type { Person } from "../../api/generated.ts";
import { messageOf } from "../../forms.ts";
import { invitationTexts as t, verifyTexts, visitorTexts } from "../../texts/sign-in.ts";
import { Avatar } from "../../ui/avatar.tsx";
import { useAttempt } from "../../use-attempt.ts";
import { JoinAsNewPerson } from "./join-as-new-person.tsx";
import { invitationLead, isInvalid, type OpenedInvitation } from "./opened-invitation.ts";
import { useOnce, useOptions } from "./options.ts";
import { Action, ActionLink, ProblemNote, VisitorPage } from "./visitor-page.tsx";
import { forgetToken, tokenOf } from "./where-to.ts";

/** What an invitation is for, and joining: with the account that is signed in, another one, or a new one. */
export function InvitationPage() {
  const options = useOptions();
  const [isGone, setGone] = useState(false);
  const opened = useOnce(async (): Promise<OpenedInvitation | undefined> => {
    const token = tokenOf("invitation");
    if (token === "") return undefined;
    const [invitation, person] = await Promise.all([
      call("GET /api/auth/invitations/{token}", { path: { token } }),
      signedInPerson(),
    ]);
    return { token, invitation, person };
  });
  if (options === undefined || opened.kind === "loading") return null;
  if (opened.kind === "failed" && !isInvalid(opened.error)) {
    return (
      <VisitorPage title={t.goneTitle} lead={messageOf(opened.error)}>
        <Action type="button" onClick={() => location.reload()}>
          {verifyTexts.tryAgain}
        </Action>
      </VisitorPage>
    );
  }
  if (opened.kind === "failed" || isGone) {
    forgetToken("invitation");
    return (
      <VisitorPage title={t.goneTitle} lead={t.goneText}>
        <ActionLink variant="secondary" href="/app/">
          {visitorTexts.toSignIn}
        </ActionLink>
      </VisitorPage>
    );
  }
  const found = opened.value;
  if (found === undefined) {
    return <VisitorPage title={t.incompleteTitle} lead={t.incompleteText} />;
  }
  const onGone = () => setGone(true);
  if (found.person === undefined) return <JoinAsNewPerson opened={found} options={options} onGone={onGone} />;
  return <JoinAsPerson opened={found} person={found.person} onGone={onGone} />;
}

async function signedInPerson(): Promise<Person | undefined> {
  try {
    return (await call("GET /api/account")).person;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return undefined;
    throw error;
  }
}

interface JoinAsPersonProps {
  readonly opened: OpenedInvitation;
  readonly person: Person;
  readonly onGone: () => void;
}

function JoinAsPerson({ opened: { token, invitation }, person, onGone }: JoinAsPersonProps) {
  const attempt = useAttempt();
  const isOther = invitation.email !== null && invitation.email.toLowerCase() !== person.email.toLowerCase();

  const signOut = () =>
    void attempt.run(async () => {
      await call("DELETE /api/account/session");
      location.assign(`/app/invitation#${token}`);
      location.reload();
    });
  const join = () =>
    void attempt.run(async () => {
      try {
        await call("POST /api/account/invitations/{token}/accept", { path: { token } });
      } catch (error) {
        if (isInvalid(error)) return onGone();
        if (!(error instanceof ApiError) || error.code !== "already_member") throw error;
      }
      forgetToken("invitation");
      location.assign("/app/");
    });

  if (isOther) {
    return (
      <VisitorPage title={t.wrongTitle} lead={t.wrongText(invitation.email ?? "", person.email)}>
        <ProblemNote error={attempt.error} waitSeconds={attempt.waitSeconds} />
        <Action type="button" busy={attempt.isBusy} onClick={signOut}>
          {t.signOut}
        </Action>
      </VisitorPage>
    );
  }
  return (
    <VisitorPage title={t.title(invitation.workspace)} lead={invitationLead(invitation)}>
      <p className="flex items-center gap-2.5 rounded-2 bg-sunken px-3 py-2.5">
        <Avatar name={person.name} />
        {t.signedInAs(person.email)}
      </p>
      <ProblemNote error={attempt.error} waitSeconds={attempt.waitSeconds} />
      <div className="grid gap-2">
        <Action type="button" busy={attempt.isBusy} onClick={join}>
          {t.join}
        </Action>
        {invitation.email === null && (
          <Action variant="quiet" onClick={signOut}>
            {t.other}
          </Action>
        )}
      </div>
    </VisitorPage>
  );
}
