import { createContext, lazy, type ReactNode, Suspense, useCallback, useContext, useState } from "react";
import { ApiError } from "./api/call.ts";
import type { Proof } from "./api/generated.ts";

const ProofDialog = lazy(() => import("./proof-dialog.tsx").then((module) => ({ default: module.ProofDialog })));

/**
 * For calls that the API refuses with `proof_required`: asks for the password, a code or a passkey, and makes the call again
 * with it. A sign-in of just now is a proof too, where the call accepts one: then the person signs in again, here on the page.
 * Close other dialogs before: one is open at a time.
 */
export type ProofWay = "password" | "code" | "fresh";

export interface ProofAsked {
  /** What the call accepts. Default: all. */
  readonly accepts?: readonly ProofWay[];
  /** One sentence about what is at stake. */
  readonly lead?: string;
}

/** Whether the work was done; false: the person did not prove it. Other errors of the work are thrown. */
export type WithProof = (work: (proof: Proof) => Promise<unknown>, asked?: ProofAsked) => Promise<boolean>;

const ProofContext = createContext<WithProof | undefined>(undefined);

export function useProof(): WithProof {
  const withProof = useContext(ProofContext);
  if (withProof === undefined) throw new Error("No ProofProvider is around this.");
  return withProof;
}

export interface AskedProof extends ProofAsked {
  readonly work: (proof: Proof) => Promise<unknown>;
  readonly settle: PromiseWithResolvers<boolean>;
}

export function ProofProvider({ children }: { readonly children: ReactNode }) {
  const [asked, setAsked] = useState<AskedProof>();
  const withProof = useCallback<WithProof>(async (work, options = {}) => {
    try {
      await work({});
      return true;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "proof_required") throw error;
    }
    const settle = Promise.withResolvers<boolean>();
    setAsked({ work, settle, ...options });
    return await settle.promise;
  }, []);
  const end = (settle: (asked: AskedProof) => void) => {
    setAsked(undefined);
    if (asked !== undefined) settle(asked);
  };
  return (
    <ProofContext value={withProof}>
      {children}
      <Suspense>{asked !== undefined && <ProofDialog asked={asked} onEnd={end} />}</Suspense>
    </ProofContext>
  );
}
