/** One event of a stream, such as `watchClicks`. */
export interface ServerEvent {
  /** `click`, `quota`, `more` or `notice`. */
  readonly event: string;
  readonly data: unknown;
}

/**
 * The events of a streaming response, until it ends. Comments are skipped. Nothing is repeated after a lost connection:
 * call the route again to go on.
 */
export async function* eventsOf(response: Response): AsyncGenerator<ServerEvent, void, undefined> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      text += decoder.decode(part.value, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const [event, data] = [field(block, "event"), field(block, "data")];
        if (event !== undefined && data !== undefined) yield { event, data: JSON.parse(data) };
      }
    }
  } finally {
    await reader?.cancel();
  }
}

const field = (block: string, name: string): string | undefined =>
  block
    .split("\n")
    .find((line) => line.startsWith(`${name}: `))
    ?.slice(name.length + 2);
