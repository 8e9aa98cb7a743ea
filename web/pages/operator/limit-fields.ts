import type { PlanLimits } from "../../api/generated.ts";
import { formatBytes, formatNumber } from "../../format.ts";
import { operatorTexts as t } from "../../texts/operator.ts";

export type LimitName = keyof PlanLimits;
export const limitNames = Object.keys(t.limitNames) as LimitName[];

export const shownLimit = (value: number | null, name?: LimitName): string =>
  value === null ? t.noLimit : name === "storageBytes" ? formatBytes(value) : formatNumber(value);
