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

test("a theme holds whatever the system says", () => {
  const { html } = samples.digest.write(setting);
  expect(inTheme(html, "dark")).toContain("@media all {");
  expect(inTheme(html, "light")).toContain("@media not all {");
  for (const theme of ["light", "dark"] as const) {
    expect(inTheme(html, theme)).toContain(`color-scheme: ${theme} }`);
    expect(inTheme(html, theme)).not.toContain("prefers-color-scheme");
  }
});
