import { type Row, rowMost } from "./row.ts";

/** One JSON value per line. An invalid or endless line affects no other line. */
export async function* readJsonLines(text: AsyncIterable<string>): AsyncGenerator<Row<unknown>> {
  let rest = "";
  let line = 1;
  let tooLong = false;

  function* take(content: string): Generator<Row<unknown>> {
    if (tooLong) tooLong = false;
    else if (content.length > rowMost) yield { line, problem: `has more than ${rowMost} characters` };
    else if (content.trim() !== "") yield parse(line, content);
    line++;
  }

  for await (const piece of text) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    for (const content of lines) yield* take(content);
    if (rest.length > rowMost) {
      if (!tooLong) yield { line, problem: `has more than ${rowMost} characters` };
      tooLong = true;
      rest = "";
    }
  }
  if (rest !== "") yield* take(rest);
}

function parse(line: number, content: string): Row<unknown> {
  try {
    return { line, value: JSON.parse(content) as unknown };
  } catch {
    return { line, problem: "is not JSON" };
  }
}
