import { codeSpace } from "./alphabet.ts";
import type { Codes } from "./codes.ts";
import { isReserved } from "./slugs.ts";

/**
 * Hands out codes. Counter numbers come from SQL in blocks, and a block is committed there before the first of its
 * numbers is used: a crash skips what was left of it and can never issue one twice, and two processes hold different
 * blocks. Callers that find the block empty wait for one and the same request.
 */
export interface Issuer {
  next(): Promise<string>;
}

/** Durably moves the counter on by `size` and answers where the block starts. */
export type TakeBlock = (size: number) => Promise<number>;

export function createIssuer(codes: Codes, takeBlock: TakeBlock, blockSize: number): Issuer {
  let position = 0;
  let end = 0;
  let refill: Promise<void> | undefined;

  async function fill(): Promise<void> {
    const start = await takeBlock(blockSize);
    position = start;
    end = start + blockSize;
  }

  return {
    async next() {
      for (;;) {
        if (position < end) {
          const code = codes.encode(position++ % codeSpace);
          if (!isReserved(code)) return code;
          continue;
        }
        refill ??= fill().finally(() => {
          refill = undefined;
        });
        await refill;
      }
    },
  };
}
