import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import CircleUser from "lucide-react/icons/circle-user";
import LogOut from "lucide-react/icons/log-out";
import Server from "lucide-react/icons/server";
import { useState } from "react";
import { ApiError, call } from "../api/call.ts";
import { accountQuery } from "../api/queries.ts";
import { forgetDrafts, messageOf } from "../forms.ts";
import { shellTexts as t } from "../texts/shell.ts";
import { chooseTheme, currentTheme, type Theme } from "../theme.ts";
import { Avatar } from "../ui/avatar.tsx";
import { Menu, MenuItem, MenuRadio, MenuSeparator } from "../ui/menu.tsx";
import { useToast } from "../ui/toast.tsx";

export function AccountMenu() {
  const { data: account } = useQuery(accountQuery);
  const [theme, setTheme] = useState<Theme>(currentTheme);
  const toast = useToast();
  if (account === undefined) return null;
  const { person } = account;
  return (
    <Menu
      trigger={
        <button type="button" className="touch grid rounded-full max-sm:p-1.5">
          <Avatar name={person.name} />
          <span className="sr-only">{t.accountMenu(person.name)}</span>
        </button>
      }
    >
      <div className="px-2 py-1.5">
        <p className="truncate font-medium">{person.name}</p>
        <p className="truncate text-12 text-text-3">{person.email}</p>
      </div>
      <MenuSeparator />
      <MenuItem icon={CircleUser} link={<Link to="/account" search={{}} />}>
        {t.account}
      </MenuItem>
      {person.operator && (
        <MenuItem icon={Server} link={<Link to="/operator" search={{}} />}>
          {t.operator}
        </MenuItem>
      )}
      <MenuSeparator />
      <MenuRadio
        label={t.theme}
        value={theme}
        onValueChange={(chosen) => {
          chooseTheme(chosen);
          setTheme(chosen);
        }}
        options={[
          { value: "system", label: t.themeSystem },
          { value: "light", label: t.themeLight },
          { value: "dark", label: t.themeDark },
        ]}
      />
      <MenuSeparator />
      <MenuItem
        icon={LogOut}
        onSelect={() => void signOut((error) => toast({ message: t.signOutFailed(messageOf(error)), tone: "bad" }))}
      >
        {t.signOut}
      </MenuItem>
    </Menu>
  );
}

/** Whoever uses this computer next must find neither the session nor what was typed: without an answer nobody is signed out. */
async function signOut(onFailed: (error: unknown) => void): Promise<void> {
  try {
    await call("DELETE /api/account/session");
  } catch (error) {
    const isOver = error instanceof ApiError && error.status === 401;
    if (!isOver) return onFailed(error);
  }
  forgetDrafts();
  location.assign("/app/sign-in");
}
