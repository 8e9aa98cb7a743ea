import { ApiError, call } from "../../api/call.ts";
import type { File as StoredFile, Upload } from "../../api/generated.ts";
import { randomId } from "../../random-id.ts";

/** Announces, sends and completes one file. `onProgress` gets the share that was sent. */
export async function sendFile(file: File, onProgress: (share: number) => void): Promise<StoredFile> {
  const announced = await announce(file, randomId());
  await sendTo(announced, file, onProgress);
  return await call("POST /api/files/{id}/complete", { path: { id: announced.id } });
}

export const announce = ({ name, size, type }: File, idempotencyKey: string): Promise<Upload> =>
  call("POST /api/files", {
    body: { name, size, type: type === "" ? "application/octet-stream" : type },
    idempotencyKey,
  });

/** `fetch` does not tell how much has been sent. */
export function sendTo(
  { upload }: Upload,
  file: File,
  onProgress: (share: number) => void,
  onRequest: (request: XMLHttpRequest) => void = () => {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    onRequest(request);
    request.open(upload.method, upload.url);
    for (const [name, value] of Object.entries(upload.headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0);
    // 409: an earlier attempt arrived after all.
    request.onload = () =>
      request.status < 300 || request.status === 409 ? resolve() : reject(new ApiError(problemOf(request)));
    request.onerror = () => reject(new ApiError(undefined));
    request.onabort = () => reject(new ApiError(undefined));
    request.send(file);
  });
}

function problemOf({ responseText }: XMLHttpRequest) {
  try {
    return JSON.parse(responseText) as ConstructorParameters<typeof ApiError>[0];
  } catch {
    return undefined;
  }
}
