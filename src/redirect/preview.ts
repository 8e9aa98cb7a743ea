import { toIso } from "../base/clock.ts";
import type { LinkDetails } from "../links/details.ts";
import { splitKey, type Target, type TargetFile } from "../links/link.ts";
import { escapeHtml, page } from "./pages.ts";

/**
 * `/{code}+`: everything about where a link leads, without going there. Of a link whose answer depends on who asks, all
 * its addresses are shown: whoever looks first wants to know the worst. Links with a password never get here.
 */
export function previewPage(code: string, url: string, target: Target, details: LinkDetails | undefined): Response {
  const own = escapeHtml(splitKey(code).code);
  const others = otherUrls(url, target);
  const title = details?.title ?? null;
  const dates = [
    ...(details === undefined ? [] : [`Made on ${dayOf(details.createdAt)}`]),
    target.expiresAt === null ? "Does not expire" : `Works until ${dayOf(target.expiresAt)}`,
  ];
  return page(
    200,
    "Where this link leads",
    [
      ...(title === null ? [] : [`<p><strong>${escapeHtml(title)}</strong></p>`]),
      `<p><code>/${own}</code> leads to${target.file === null ? "" : " a file"}</p>`,
      target.file === null ? `<p>${anchor(url)}</p>` : fileLines(own, target.file),
      ...(others.length === 0
        ? []
        : [
            "<p>Its owner has set rules. Depending on who opens it and when, it may lead here instead:</p>",
            `<ul>${others.map((other) => `<li>${anchor(other)}</li>`).join("")}</ul>`,
          ]),
      ...(target.choice?.forwardQuery ? ["<p>What you add to its address after ? goes along.</p>"] : []),
      `<small>${dates.join(" · ")} (UTC)<br><a href="/report?code=${encodeURIComponent(splitKey(code).code)}">Report this link</a></small>`,
    ].join("\n"),
  );
}

function fileLines(own: string, { name, type, sizeBytes }: TargetFile): string {
  const size = `${sizeBytes.toLocaleString("en")} ${sizeBytes === 1 ? "byte" : "bytes"}`;
  return `<p><a rel="noreferrer nofollow" href="/${own}">${escapeHtml(name)}</a></p><p>${escapeHtml(type)}, ${size}</p>`;
}

function otherUrls(url: string, { choice }: Target): string[] {
  const all = [...(choice?.rules ?? []), ...(choice?.split ?? [])].map((led) => led.url);
  return [...new Set(all)].filter((other) => other !== url);
}

/** HTML: a day stays in one piece where lines are broken. */
const dayOf = (time: number): string => `<time>${toIso(time).slice(0, 10)}</time>`;

function anchor(url: string): string {
  const shown = escapeHtml(url);
  return `<a rel="noreferrer nofollow" href="${shown}">${shown}</a>`;
}
