import type { FileId, TenantId } from "../base/ids.ts";
import type { FileState } from "../sql/schema.ts";

/** A file of a tenant, from the moment it was announced. */
export interface TenantFile {
  readonly id: FileId;
  readonly tenantId: TenantId;
  /** As its owner named it: shown as text, never part of a path. */
  readonly name: string;
  readonly sizeBytes: number;
  readonly type: string;
  /** In hex: as announced, and once stored as computed. */
  readonly sha256: string | null;
  readonly state: FileState;
  /** Whether the counters have settled its hold. */
  readonly settled: boolean;
  readonly createdAt: number;
  /** When it was created, until its upload is admitted. */
  readonly uploadUntil: number;
  readonly storedAt: number | null;
}

/** What its owner announces about a file. */
export interface FileInput {
  readonly name: string;
  readonly size: number;
  readonly type: string;
  readonly sha256?: string;
}

/** Held by the counters, with a URL for the upload. */
export const isAdmitted = (file: TenantFile): boolean => file.uploadUntil > file.createdAt;

/** Where an upload arrives: the holder of the signed URL may write there. */
export const incomingKey = (id: FileId): string => `incoming/${id}`;

/** Where it is stored: only we write there. */
export const storedKey = ({ tenantId, id }: Pick<TenantFile, "tenantId" | "id">): string => `stored/${tenantId}/${id}`;
