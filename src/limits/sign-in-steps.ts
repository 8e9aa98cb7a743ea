import { type AddressLimiterSettings, createAddressLimiter, type Taken } from "./address-limiter.ts";
import { slidingHour } from "./window.ts";

/**
 * Limits how often an address may begin a sign-in that leaves a row in the database until it is finished: with a passkey,
 * with a company. An address is known only by its name of the day; unknown addresses share one limit. When the counters
 * are unavailable, nothing is begun: the rows would have no bound.
 */
export interface SignInSteps {
  take(address: string | undefined): Promise<Taken>;
}

/** An office behind one address signs in within the same quarter of an hour in the morning. */
export const stepsPerHour = 300;

export function createSignInSteps(settings: AddressLimiterSettings): SignInSteps {
  const limiter = createAddressLimiter(settings, { purpose: "sign-in steps", action: "step" });
  return {
    async take(address) {
      const name = limiter.nameOf(address) ?? limiter.unknownName();
      const limit = { name: "signInSteps", subject: name, max: stepsPerHour, window: slidingHour };
      return await limiter.take(name, [{ ...limit, key: `steps:{${name}}` }]);
    },
  };
}
