import { createContext } from "react";

/** Why nothing can be asked of the server at the moment; undefined while there is a connection. Buttons that ask it say so. */
export const OfflineReason = createContext<string | undefined>(undefined);
