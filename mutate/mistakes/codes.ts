import type { Mistakes } from "../mistake.ts";

export const codes: Mistakes = {
  "last-number-of-a-block-issued-twice": {
    file: "codes/issuer.ts",
    from: "end = start + blockSize;",
    to: "end = start + blockSize + 1;",
    tests: ["src/codes/issuer.test.ts"],
  },
  "reserved-word-issued": {
    file: "codes/issuer.ts",
    from: "if (!isReserved(code)) return code;",
    to: "return code;",
    tests: ["src/codes/issuer.test.ts"],
  },
  "reserved-by-exact-case": {
    file: "codes/slugs.ts",
    from: "reserved.has(code.toLowerCase())",
    to: "reserved.has(code)",
    tests: ["src/codes/slugs.test.ts"],
  },
  "some-characters-likelier": {
    file: "codes/private.ts",
    from: "if (byte < even && code.length < length)",
    to: "if (code.length < length)",
    tests: ["src/codes/private.test.ts"],
  },
  "result-outside-the-space": {
    file: "codes/codes.ts",
    from: "do value = permute(value, round);\n      while (value >= codeSpace);",
    to: "do value = permute(value, round);\n      while (value > codeSpace * 2);",
    tests: ["src/codes/codes.test.ts"],
  },
};
