import type { Control } from "../proof.ts";

export const controls: readonly Control[] = [];
