import type { Mistakes } from "../mistake.ts";

const qr = ["src/qr/qr.test.ts"];

export const qrMistakes: Mistakes = {
  "last-run-of-a-row-missing": {
    file: "qr/qr.ts",
    from: "if (start !== undefined) runs.push([start, matrix.size]);",
    to: "",
    tests: qr,
  },
  "colours-too-similar": {
    file: "qr/qr.ts",
    from: "if (ratio < contrastLeast) {",
    to: "if (ratio < contrastLeast / 3) {",
    tests: qr,
  },
  "blurred-squares": {
    file: "qr/qr.ts",
    from: "if (options.size < fitting) {",
    to: "if (options.size < matrix.size) {",
    tests: qr,
  },
  "opacity-ignored": {
    file: "qr/colour.ts",
    from: "(a * top.alpha + b * (255 - top.alpha)) / 255",
    to: "a + 0 * b",
    tests: qr,
  },
  "picture-without-a-turn": {
    file: "qr/api.ts",
    from: "await large.run(tenant, () => drawQr(text, options, logo))",
    to: "await drawQr(text, options, logo)",
    tests: ["src/qr/api.test.ts"],
  },
  "crc-of-another-chunk": {
    file: "qr/png.ts",
    from: "framed.writeUInt32BE(crc32(named), named.length + 4);",
    to: "framed.writeUInt32BE(crc32(data), named.length + 4);",
    tests: qr,
  },
};
