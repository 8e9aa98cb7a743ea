import type { Codes } from "./codes.ts";
import { codeSpace } from "./codes.ts";
import { isReserved } from "./slugs.ts";

/**
 * Issues codes. Counter values come from SQL in blocks, and a block is committed before its first number is used. A
 * crash skips the rest of the block and never issues a number twice. Two processes always hold different blocks.
 * Callers that find the block empty share one request for the next.
 */
export interface Issuer {
  next(): Promise<string>;
}

/** Durably advances the counter by `size` and returns the start of the block. */
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
