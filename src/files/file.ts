import type { FileId, TenantId } from "../base/ids.ts";
import type { FileState } from "../sql/schema.ts";

/** A file of a tenant, from the moment that it was announced. */
export interface TenantFile {
  readonly id: FileId;
  readonly tenantId: TenantId;
  /** As its owner named it: a text that is shown, and never part of a path. */
  readonly name: string;
  readonly sizeBytes: number;
  readonly type: string;
  /** In hex: what was announced, and once it is stored what it is. */
  readonly sha256: string | null;
  readonly state: FileState;
  /** The counters know what became of its hold. */
  readonly settled: boolean;
  readonly createdAt: number;
  /** When it was created, until its upload is admitted. */
  readonly uploadUntil: number;
  readonly storedAt: number | null;
}

/** What its owner says about a file beforehand. */
export interface FileInput {
  readonly name: string;
  readonly size: number;
  readonly type: string;
  readonly sha256?: string;
}

/** Held by the counters, and with an address that it can be uploaded to. */
export const isAdmitted = (file: TenantFile): boolean => file.uploadUntil > file.createdAt;

/** Where it arrives: anybody who has the signed address may write there. */
export const incomingKey = (id: FileId): string => `incoming/${id}`;

/** Where it stays: nobody but us writes there. */
export const storedKey = ({ tenantId, id }: Pick<TenantFile, "tenantId" | "id">): string => `stored/${tenantId}/${id}`;
