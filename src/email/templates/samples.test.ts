import { expect, test } from "bun:test";
import { mailKinds } from "../outbox/outbox.ts";
import { inTheme } from "./letter.ts";
import { type SampleSetting, sampleNames, samples } from "./samples.ts";

const setting: SampleSetting = {
  ...{ tenant: 'Acme <b>&"', zone: "Europe/Berlin", baseUrl: "https://go.example.com", now: Date.UTC(2026, 10, 17, 9) },
};

test("there is a sample of every email that is written from a template", () => {
  const { report: _, ...written } = mailKinds;
  expect(new Set(sampleNames.map((name): string => samples[name].kind))).toEqual(new Set(Object.keys(written)));
});

test("samples are complete, differ from each other, and say the workspace's name as text", () => {
  const all = sampleNames.map((name) => samples[name].write(setting));
  expect(new Set(all.map(({ subject }) => subject)).size).toBe(sampleNames.length);
  for (const { subject, text, html } of all) {
    expect(`${subject}\n${text}`).not.toMatch(/undefined|null|NaN|Invalid Date/);
    expect(html).not.toContain("<b>");
  }
  expect(samples.digest.write(setting).text).toContain('Acme <b>&", 9 to 15 November 2026.');
});

/** Times and thresholds are no counts. */
const notCounts = new Set(["at", "start", "resetsAt", "percent"]);

function withOneOf(value: unknown, name = ""): unknown {
  if (typeof value === "number") return notCounts.has(name) ? value : 1;
  if (Array.isArray(value)) return value.map((one) => withOneOf(one));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withOneOf(one, key)]));
}

test("no email has a plural beside the number 1, or speaks of many links if it is about one", () => {
  const plurals = /(?<![\d.,:])1 (?:new )?(?!is\b|was\b|has\b)[a-z]+s\b/gi;
  expect("1 clicks, 11 clicks, 1.1 links, 1 new links, 1 click is".match(plurals)).toEqual(["1 clicks", "1 new links"]);
  for (const name of sampleNames) {
    const written = samples[name].write(setting, (facts) => withOneOf(facts) as typeof facts);
    for (const text of [written.subject, written.text, written.html.replaceAll(/<[^>]*>/g, " ")]) {
      expect([name, text.match(plurals)]).toEqual([name, null]);
    }
  }
  for (const name of ["firstClick", "drop", "deadTarget"] as const) {
    const { text } = samples[name].write(setting);
    expect([name, text.match(/\b(?:these|the) links\b/g)]).toEqual([name, null]);
  }
});

test("a theme holds whatever the system says", () => {
  const { html } = samples.digest.write(setting);
  expect(inTheme(html, "dark")).toContain("@media all {");
  expect(inTheme(html, "light")).toContain("@media not all {");
  for (const theme of ["light", "dark"] as const) {
    expect(inTheme(html, theme)).toContain(`color-scheme: ${theme} }`);
    expect(inTheme(html, theme)).not.toContain("prefers-color-scheme");
  }
});
