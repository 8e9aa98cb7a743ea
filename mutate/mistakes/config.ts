import type { Mistakes } from "../mistake.ts";

const config = ["src/config/config.test.ts"];

export const configMistakes: Mistakes = {
  "bound-unchecked": {
    file: "config/parsers.ts",
    from: "if (!/^-?\\d+$/.test(text) || value < min || value > max) {",
    to: "if (!/^-?\\d+$/.test(text) || value < min) {",
    tests: config,
  },
  "base-url-with-a-path": {
    file: "config/parsers.ts",
    from: 'if (parsed.pathname !== "/" || parsed.search || parsed.hash || parsed.username) {',
    to: "if (parsed.search || parsed.hash || parsed.username) {",
    tests: config,
  },
  "environment-beats-the-command-line": {
    file: "config/config.ts",
    from: "if (commandLine[name] !== undefined) return",
    to: "if (commandLine[name] !== undefined && !environment[name]) return",
    tests: config,
  },
  "workers-without-redis": {
    file: "config/config.ts",
    from: "if (config.QL_WORKERS > 1 && redis === undefined) {",
    to: "if (config.QL_WORKERS > 2 && redis === undefined) {",
    tests: config,
  },
  "secret-in-an-error": {
    file: "config/config.ts",
    from: 'const given = entry.secret ? "the value" : `"${text}"`;',
    to: 'const given = `"${text}"`;',
    tests: config,
  },
  "seconds-taken-for-milliseconds": {
    file: "config/config.ts",
    from: "windowMs: config.QL_BREAKER_WINDOW_SECONDS * 1_000,",
    to: "windowMs: config.QL_BREAKER_WINDOW_SECONDS,",
    tests: config,
  },
  "password-of-an-address-shown": {
    file: "config/describe.ts",
    from: 'return entry.secret === "all" ? "(hidden)" : withoutCredentials(text);',
    to: 'return entry.secret === "all" ? "(hidden)" : text;',
    tests: config,
  },
  "query-of-an-address-shown": {
    file: "config/describe.ts",
    from: '${query ? "?(hidden)" : ""}',
    to: '${query ?? ""}',
    tests: config,
  },
  "data-folder-open-to-others": {
    file: "config/data-folder.ts",
    from: "mkdirSync(config.QL_DATA, { recursive: true, mode: 0o700 });",
    to: "mkdirSync(config.QL_DATA, { recursive: true, mode: 0o755 });",
    tests: config,
  },
};
