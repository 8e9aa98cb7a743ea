import { type Row, rowMost } from "./row.ts";

/** One JSON value per line, the lines of each piece of text together. An invalid or endless line affects no other line. */
export async function* readJsonLines(text: AsyncIterable<string>): AsyncGenerator<Row<unknown>[]> {
  let rest = "";
  let line = 1;
  let tooLong = false;

  function take(content: string, rows: Row<unknown>[]): void {
    if (tooLong) tooLong = false;
    else if (content.length > rowMost) rows.push({ line, problem: `has more than ${rowMost} characters` });
    else if (content.trim() !== "") rows.push(parse(line, content));
    line++;
  }

  for await (const piece of text) {
    const rows: Row<unknown>[] = [];
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    for (const content of lines) take(content, rows);
    if (rest.length > rowMost) {
      if (!tooLong) rows.push({ line, problem: `has more than ${rowMost} characters` });
      tooLong = true;
      rest = "";
    }
    yield rows;
  }
  const last: Row<unknown>[] = [];
  if (rest !== "") take(rest, last);
  yield last;
}

function parse(line: number, content: string): Row<unknown> {
  try {
    return { line, value: JSON.parse(content) as unknown };
  } catch {
    return { line, problem: "is not JSON" };
  }
}
