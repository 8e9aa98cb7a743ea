export class Late extends Error {
  override readonly name = "Late";
}

/** The work's own answer, or an error once `ms` have passed. The work itself goes on: give it an end of its own too. */
export async function withDeadline<Result>(work: Promise<Result>, ms: number, what: string): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Late(`${what} did not answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
