/** The colours: as the system has them, or as chosen. A cookie tells the server, so that the first picture is right. */
export type Theme = "system" | "light" | "dark";

const yearSeconds = 31_536_000;

export function currentTheme(): Theme {
  const { theme } = document.documentElement.dataset;
  return theme === "light" || theme === "dark" ? theme : "system";
}

export function chooseTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  const age = theme === "system" ? 0 : yearSeconds;
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API does not exist over plain http.
  document.cookie = `quicklink-theme=${theme}; Path=/app; Max-Age=${age}; SameSite=Lax`;
}
