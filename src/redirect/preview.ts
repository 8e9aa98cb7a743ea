import { toIso } from "../base/clock.ts";
import { escapeHtml } from "../base/escape-html.ts";
import type { Brand } from "../branding/brand.ts";
import { splitKey, type Target, type TargetFile } from "../links/link.ts";
import type { LinkDetails } from "../links/read/details.ts";
import { isExpired } from "./decide.ts";
import { page } from "./error-pages.ts";

/**
 * `/{code}+`: shows where a link leads without redirecting. It shows every URL that any visitor might be sent to,
 * including the fallback: a careful visitor wants to know the worst. An expired link shows its fallback only. Links
 * with a password, and expired ones without a fallback, never get here.
 */
export function previewPage(
  key: string,
  target: Target,
  details: LinkDetails | undefined,
  now: number,
  brand?: Brand,
): Response {
  const { code } = splitKey(key);
  const own = escapeHtml(code);
  const title = details?.title ?? null;
  const expired = isExpired(target, now);
  const dates = [
    ...(details === undefined ? [] : [`Created on ${dayOf(details.createdAt)}`]),
    target.expiresAt === null
      ? "Does not expire"
      : `${expired ? "Expired on" : "Expires on"} ${dayOf(target.expiresAt)}`,
  ];
  return page(
    200,
    "Link preview",
    [
      ...(title === null ? [] : [`<p><strong>${escapeHtml(title)}</strong></p>`]),
      ...(expired ? afterwards(`<code>/${own}</code> has expired. It now leads to`, target) : ways(own, target)),
      `<small>${dates.join(" · ")} (UTC)<br><a href="/report?code=${encodeURIComponent(code)}">Report this link</a></small>`,
    ].join("\n"),
    {},
    brand,
  );
}

function ways(own: string, target: Target): string[] {
  const others = otherUrls(target);
  return [
    `<p><code>/${own}</code> leads to${target.file === null ? "" : " a file"}</p>`,
    target.file === null ? `<p>${anchor(target.url)}</p>` : fileLines(own, target.file),
    ...(others.length === 0
      ? []
      : [
          "<p>This link has routing rules. Depending on the visitor and the time, it may lead here instead:</p>",
          `<ul>${others.map((other) => `<li>${anchor(other)}</li>`).join("")}</ul>`,
        ]),
    ...afterwards("When it has expired or used its hits for the month, it leads to", target),
    ...(target.choice?.forwardQuery ? ["<p>Query parameters added to the link are passed on.</p>"] : []),
  ];
}

const afterwards = (says: string, { fallbackUrl }: Target): string[] =>
  fallbackUrl === null ? [] : [`<p>${says}</p>`, `<p>${anchor(fallbackUrl)}</p>`];

function fileLines(own: string, { name, type, sizeBytes }: TargetFile): string {
  const size = `${sizeBytes.toLocaleString("en")} ${sizeBytes === 1 ? "byte" : "bytes"}`;
  return `<p><a rel="noreferrer nofollow" href="/${own}">${escapeHtml(name)}</a></p><p>${escapeHtml(type)}, ${size}</p>`;
}

function otherUrls({ url, choice }: Target): string[] {
  const all = [...(choice?.rules ?? []), ...(choice?.split ?? [])].map((led) => led.url);
  return [...new Set(all)].filter((other) => other !== url);
}

/** HTML: keeps a date on one line. */
const dayOf = (time: number): string => `<time>${toIso(time).slice(0, 10)}</time>`;

function anchor(url: string): string {
  const shown = escapeHtml(url);
  return `<a rel="noreferrer nofollow" href="${shown}">${shown}</a>`;
}
