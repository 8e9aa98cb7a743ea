import { describe, expect, test } from "bun:test";
import { Problem } from "../base/errors.ts";
import { isPossiblePassword, requireGoodPassword } from "./password-rules.ts";

function verdictOn(password: string, ...about: string[]): string {
  try {
    requireGoodPassword(password, about);
    return "good";
  } catch (error) {
    return error instanceof Problem ? (error.more.errors?.[0]?.code ?? error.code) : String(error);
  }
}

describe("a new password", () => {
  test.each([
    ...[
      "violet kettle 42 march",
      "xK9#mQ2$vL",
      "tall-ships-sail-at-dawn",
      "8236a47623",
      "ünïcödé wörks fine",
      "木漏れ日を見る朝の散歩道",
    ],
    ...["Tr4ctor-Bench-Lamp", "myfavouritebandis", "correct horse lamp staple"],
  ])("%s is good", (password) => {
    expect(verdictOn(password, "ann@example.com", "Ann Example")).toBe("good");
  });

  test.each([
    ...[
      "password123",
      "Password2024!",
      "P@ssw0rd!!",
      "p455w0rd99",
      "passwordpassword",
      "mypassword1",
      "1234567890",
      "0987654321",
    ],
    ...[
      "qwertyuiop",
      "qwerty12345",
      "1q2w3e4r5t",
      "1qaz2wsx3edc",
      "asdfghjkl1",
      "zxcvbnm123",
      "aaaaaaaaaa",
      "abababababab",
      "abcabcabcabc",
    ],
    ...[
      "abcdefghij",
      "iloveyou123",
      "letmein2025",
      "welcome1234",
      "administrator",
      "admin12345",
      "Football2023",
      "superman123!",
      "monkey12345",
    ],
    ...[
      "changeme123",
      "dragon1234!",
      "sunshine99!",
      "summer2025!!",
      "Winter2024!",
      "quicklink123",
      "correcthorsebatterystaple",
      "trustno1234",
    ],
  ])("%s is among the first guesses", (password) => {
    expect(verdictOn(password, "bob@example.com")).toBe("common_password");
  });

  test.each([
    ["ann@example.com", "own_data"],
    ["ANN@EXAMPLE.COM", "own_data"],
    ["ann.marigold1", "own_data"],
    ["annmarigold2024", "own_data"],
    ["short", "too_short"],
    ["ｓｈｏｒｔ９", "too_short"],
    ["🙂🙂🙂🙂🙂🙂🙂", "too_short"],
    ["x".repeat(1_025), "too_long"],
    ["ü".repeat(513), "too_long"],
    [`good long words \ud800`, "bad_unicode"],
  ])("%s is refused: %s", (password, code) => {
    expect(verdictOn(password, "ann@example.com", "ann.marigold@example.org", "Ann Marigold")).toBe(code);
  });

  test("a megabyte is refused without being looked at", () => {
    const long = "a".repeat(1_000_000);
    const before = process.cpuUsage();
    for (let i = 0; i < 1_000; i++) expect(isPossiblePassword(long)).toBe(false);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000);
  });
});
