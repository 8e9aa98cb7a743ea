import { Problem } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { readForm } from "../base/read-body.ts";
import { slugPattern } from "../codes/slugs.ts";
import { parseAddress } from "../email/address.ts";
import type { Mount } from "../http/mount.ts";
import { problemResponse, wrongMethod } from "../http/problem.ts";
import type { Guesses } from "../limits/guesses.ts";
import type { ReportLimit } from "../limits/report-limit.ts";
import { finalPage } from "../redirect/error-pages.ts";
import { detailsMost, laterPage, type ReportErrors, type ReportInput, reportPage, thanksPage } from "./report-page.ts";
import { abuseReasons, type Reports } from "./reports.ts";

/**
 * `/report`: anyone may report a link to the operator. Strangers can write here, so everything is bounded: the size of
 * a report, the number per address, the number stored. An unknown code counts as a guess.
 */
export interface ReportSettings {
  readonly reports: Reports;
  readonly limit: ReportLimit;
  readonly guesses: Guesses;
  /** The destination of a link. */
  readonly find: (domain: string, code: string) => Promise<{ readonly url: string } | undefined>;
  readonly log: Logger;
}

const bodyBytes = 32_768;
const bodyMs = 10_000;
const laterSeconds = 60;
const control = /\p{Cc}/gu;
const controlButLines = /(?![\n\t])\p{Cc}/gu;

export function mountReports(settings: ReportSettings): Mount {
  return {
    prefix: "/report",
    onCustomDomains: true,
    async handle(request, { path, domain, address }) {
      if (path !== "/report") return finalPage({ kind: "missing" }, request);
      switch (request.method) {
        case "GET":
        case "HEAD": {
          const query = queryOf(request.url);
          return query.has("thanks") ? thanksPage() : reportPage(200, typedFrom(query));
        }
        case "POST":
          return receive(settings, request, domain, address);
        default:
          return wrongMethod("GET", "HEAD", "POST");
      }
    },
  };
}

/** The host part is whatever the client sent, and may be invalid. */
function queryOf(url: string): URLSearchParams {
  const mark = url.indexOf("?");
  return new URLSearchParams(mark === -1 ? "" : url.slice(mark));
}

async function receive(
  settings: ReportSettings,
  request: Request,
  domain: string,
  address: string | undefined,
): Promise<Response> {
  const { reports, limit, guesses, find, log } = settings;
  const sent = await readForm(request, bodyBytes, bodyMs);
  if (sent === undefined) {
    return problemResponse(new Problem("unsupported_media_type", "Send the form of /report, with at most 32 KB."));
  }
  const typed = typedFrom(sent);
  const code = codeOf(typed.code);
  const mistakes = mistakesOf(typed, code);
  if (Object.keys(mistakes).length > 0 || code === undefined) return reportPage(422, typed, mistakes);
  const blocked = guesses.blockedFor(address) ?? (await limit.take(address));
  if (blocked !== undefined) return laterPage(429, "Too many reports from your IP address.", blocked);
  try {
    const link = await find(domain, code);
    if (link === undefined) {
      await guesses.missed(address);
      return reportPage(422, typed, { code: "This link does not exist. Codes are case-sensitive." });
    }
    const outcome = await reports.add({
      domain,
      code,
      reason: abuseReasons.find((one) => one === typed.reason) ?? "other",
      details: typed.details.trim() || null,
      email: parseAddress(typed.email.trim()) ?? null,
      url: link.url,
    });
    if (outcome === "full") {
      log.warn("no space for another abuse report; to review reports: quicklink abuse list");
      return laterPage(503, "We cannot accept more reports right now.", laterSeconds);
    }
    // Reloading the response must not send the report again.
    return new Response(null, { status: 303, headers: { location: "/report?thanks", "cache-control": "no-store" } });
  } catch (error) {
    log.error({ error }, "abuse report could not be stored");
    return laterPage(503, "We cannot accept your report right now.", laterSeconds);
  }
}

function typedFrom(fields: URLSearchParams): ReportInput {
  const given = (name: string) => (fields.get(name) ?? "").toWellFormed();
  const of = (name: string) => given(name).replace(control, "");
  // Browsers count a line break as one character but send two.
  const details = given("details").replace(/\r\n?/g, "\n").replace(controlButLines, "");
  return {
    code: of("code").slice(0, 300),
    reason: of("reason").slice(0, 50),
    details,
    email: of("email").slice(0, 300),
  };
}

function mistakesOf({ reason, details, email }: ReportInput, code: string | undefined): ReportErrors {
  return {
    ...(code === undefined && { code: "Enter the link, or the part after the last /." }),
    ...(!abuseReasons.some((one) => one === reason) && { reason: "Choose a reason." }),
    ...(details.length > detailsMost && {
      details: `Must have at most ${detailsMost.toLocaleString("en")} characters.`,
    }),
    ...(email.trim() !== "" &&
      parseAddress(email.trim()) === undefined && {
        email: "This is not an email address. Correct it or leave it empty.",
      }),
  };
}

/** Visitors paste the whole URL, or that of the preview. */
function codeOf(text: string): string | undefined {
  const [path = ""] = text.trim().split(/[?#]/, 1);
  const last = path.split("/").findLast((part) => part !== "") ?? "";
  const code = last.endsWith("+") ? last.slice(0, -1) : last;
  return slugPattern.test(code) ? code : undefined;
}
