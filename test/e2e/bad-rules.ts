/** What no rule, split, UTM parameter or password may be: the field that must be named, the value, and the code. */
type Bad = readonly [field: string, value: unknown, code: string];

const https = "https://example.com/";
const rule = (when: unknown, url: unknown = https) => [{ when, url }];
const when = (name: string, value: unknown, code: string, inside = ""): Bad => [
  `rules.0.when.${name}${inside}`,
  rule({ [name]: value }),
  code,
];
const pairs = (...whens: unknown[]) => whens.map((one, i) => ({ when: one, url: https + i }));
const hours = (more: Record<string, unknown>) => ({ zone: "Europe/Berlin", from: "09:00", until: "17:00", ...more });
const split = (...urls: unknown[]) => urls.map((url) => ({ url, weight: 1 }));

export const badRules = (port: number): readonly Bad[] => [
  ...["x", {}, null, 1].map((value): Bad => ["rules", value, "wrong_type"]),
  ["rules", Array.from({ length: 10_000 }, () => ({ when: { country: ["DE"] }, url: https })), "too_many"],
  ["rules", Array.from({ length: 51 }, (_, i) => ({ when: { query: { name: `n${i}` } }, url: https })), "too_many"],
  [
    "rules",
    Array.from({ length: 50 }, (_, i) => ({ when: { query: { name: `n${i}` } }, url: https + "x".repeat(1_000) })),
    "too_long",
  ],
  ["rules.0", [5], "wrong_type"],
  ["rules.0.when", [{ url: https }], "required"],
  ["rules.0.url", [{ when: { country: ["DE"] } }], "required"],
  ["rules.0.status", [{ when: { country: ["DE"] }, url: https, status: 301 }], "unknown_field"],
  ["rules.0.when.browser", rule({ browser: ["firefox"] }), "unknown_field"],
  ["rules.0.when", rule({}), "empty"],
  ["rules.0.url", rule({ country: ["DE"] }, `http://localhost:${port}/loop`), "own_host"],
  ["rules.0.url", rule({ country: ["DE"] }, "javascript:alert(1)"), "scheme_not_allowed"],
  ["rules.0.url", rule({ country: ["DE"] }, "https://user:secret@example.com/"), "credentials"],
  when("country", "DE", "wrong_type"),
  when("country", [], "too_few"),
  when("country", ["DE", "DE"], "duplicate"),
  when("country", ["Germany"], "bad_format", ".0"),
  when("country", ["XX"], "unknown_country", ".0"),
  when("device", ["phone"], "not_accepted", ".0"),
  when("os", ["beos"], "not_accepted", ".0"),
  when("language", ["german"], "bad_format", ".0"),
  when("language", ["de_AT"], "bad_format", ".0"),
  // A moment without a clock, or a clock without a zone, is no moment.
  ...["2099-01-01", "2099-01-01T10:00", "2099-01-01T10:00:00", "10:00", "tomorrow", "2099-02-30T10:00:00Z", ""].map(
    (value): Bad => when("from", value, "bad_format"),
  ),
  when("until", 4_070_908_800_000, "wrong_type"),
  ["rules.0.when.from", rule({ from: "2099-01-02T00:00:00Z", until: "2099-01-01T00:00:00Z" }), "contradiction"],
  ["rules.0.when.from", rule({ from: "2099-01-01T02:00:00+02:00", until: "2099-01-01T00:00:00Z" }), "contradiction"],
  ["rules.0.when.hours.zone", rule({ hours: { from: "09:00", until: "17:00" } }), "required"],
  ...["Mars/Olympus", "+01:00", "", "GMT+25", "Europe"].map(
    (zone): Bad => ["rules.0.when.hours.zone", rule({ hours: hours({ zone }) }), "unknown_zone"],
  ),
  ...["9:00", "25:00", "24:00", "09:60", "09:00:00", "noon"].map(
    (from): Bad => ["rules.0.when.hours.from", rule({ hours: hours({ from }) }), "bad_format"],
  ),
  ["rules.0.when.hours.from", rule({ hours: hours({ until: "09:00" }) }), "contradiction"],
  ["rules.0.when.hours.days.0", rule({ hours: hours({ days: ["monday"] }) }), "not_accepted"],
  ["rules.0.when.hours.days", rule({ hours: hours({ days: [] }) }), "too_few"],
  ["rules.0.when.query.name", rule({ query: { value: "x" } }), "required"],
  ["rules.0.when.query.name", rule({ query: { name: "a\nb" } }), "control_characters"],
  ["rules.0.when.query.value", rule({ query: { name: "a", value: "x".repeat(201) } }), "too_long"],
  ["rules.0.when.device", rule({ device: ["desktop"], os: ["ios"] }), "contradiction"],
  ["rules.1", pairs({ country: ["DE"] }, { country: ["DE"] }), "unreachable"],
  ["rules.2", pairs({ os: ["ios"] }, { country: ["DE"] }, { country: ["DE"], os: ["android"] }), "unreachable"],

  ["split", split(https), "too_few"],
  ["split", split(...Array.from({ length: 11 }, (_, i) => https + i)), "too_many"],
  ["split.1.url", split(https, https), "duplicate"],
  ["split.1.url", split(https, `http://localhost:${port}/`), "own_host"],
  ["split.0.weight", [{ url: https, weight: 0 }, ...split(`${https}b`)], "too_small"],
  ["split.0.weight", [{ url: https, weight: 1_001 }, ...split(`${https}b`)], "too_big"],
  ["split.0.weight", [{ url: https, weight: 0.5 }, ...split(`${https}b`)], "wrong_type"],

  ["utm", "newsletter", "wrong_type"],
  ["utm.id", { id: "x" }, "unknown_field"],
  ["utm.source", { source: "" }, "blank"],
  ["utm.source", { source: "x".repeat(201) }, "too_long"],
  ["utm.term", { term: "a\r\nb" }, "control_characters"],
  ["utm", Object.fromEntries(["source", "medium", "campaign"].map((name) => [name, "字".repeat(200)])), "too_long"],
  ["forwardQuery", 1, "wrong_type"],

  ["password", 1_234, "wrong_type"],
  ["password", true, "wrong_type"],
  ["password", "abc", "too_short"],
  ["password", "x".repeat(201), "too_long"],
  ["password", "a lone \ud800 surrogate", "bad_unicode"],
];
