import { none } from "../click.ts";

/** Where an address is. */
export interface Places {
  /** Whether all tables are loaded. Until then, places are unknown. */
  readonly isReady: boolean;
  of(address: string): KnownPlace;
}

export interface KnownPlace {
  readonly country: string;
  readonly region: string;
  readonly city: string;
}

export const nowhere: KnownPlace = { country: none, region: none, city: none };
