import { ApiError, callsWorkspace } from "../../api/call.ts";
import type { Problem } from "../../api/generated.ts";

/** Saves what an address answers as a file. The workspace is named by a header, so a plain link would not do. */
export async function download(address: string, name: string): Promise<void> {
  const workspace = callsWorkspace();
  const response = await fetch(address, { headers: workspace === undefined ? {} : { "ql-workspace": workspace } });
  if (!response.ok) throw new ApiError((await response.json().catch(() => undefined)) as Problem | undefined);
  const url = URL.createObjectURL(await response.blob());
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
