import type { Mistakes } from "../mistake.ts";

const second = ["src/clicks/live/second.test.ts"];
const stream = ["src/clicks/live/stream.test.ts"];
const live = ["src/clicks/live/live.test.ts"];

export const clicksLive: Mistakes = {
  "live-busy-link-hides-the-others": {
    file: "clicks/live/second.ts",
    from: "used >= ofOneLinkMost",
    to: "used >= shownMost",
    tests: second,
  },
  "live-links-do-not-take-turns": {
    file: "clicks/live/second.ts",
    from: "for (const [link, line] of lines) {",
    to: "for (const [link, line] of [...lines].slice(0, 1)) {",
    tests: second,
  },
  "live-left-out-is-forgotten": {
    file: "clicks/live/second.ts",
    from: "clicksOut += clicks.length - taken.length;",
    to: "",
    tests: second,
  },
  "live-links-stay-used-up": {
    file: "clicks/live/second.ts",
    from: "      byLink.clear();\n",
    to: "",
    tests: live,
  },
  "live-queue-without-a-bound-of-bytes": {
    file: "clicks/live/stream.ts",
    from: " || queuedBytes + frame.byteLength > queuedBytesMost",
    to: "",
    tests: stream,
  },
  "live-taken-bytes-count-as-queued": {
    file: "clicks/live/stream.ts",
    from: "    queuedBytes -= bytes;\n",
    to: "",
    tests: stream,
  },
  "live-cut-client-stays-connected": {
    file: "clicks/live/stream.ts",
    from: 'if (end !== "left") allowSilence(seconds);',
    to: "",
    tests: stream,
  },
  "live-stalled-client-stays": {
    file: "clicks/live/stream.ts",
    from: "else if (clock.elapsed() - oldest.at >= stalledMs)",
    to: "else if (oldest.at < 0)",
    tests: stream,
  },
  "live-everybody-sees-all-tenants": {
    file: "clicks/live/live.ts",
    from: "(isWanted(tenant) ? tenant : undefined)",
    to: "(isWanted(tenant) ? tenant : [...rooms.keys()][0])",
    tests: live,
  },
  "live-last-reader-leaves-a-room-open": {
    file: "clicks/live/live.ts",
    from: "    rooms.delete(number);\n",
    to: "",
    tests: live,
  },
  "live-revoked-key-keeps-reading": {
    file: "clicks/live/live.ts",
    from: "if (!allowed)",
    to: "if (allowed === undefined)",
    tests: live,
  },
  "live-own-messages-are-shown-twice": {
    file: "clicks/live/relay.ts",
    from: "read.from !== id && ",
    to: "",
    tests: live,
  },
  "live-published-without-readers": {
    file: "clicks/live/relay.ts",
    from: "(wantedUntil.get(tenant) ?? 0) > clock.elapsed()",
    to: "wantedUntil.has(tenant) || lastUntil === 0",
    tests: live,
  },
  "live-lost-redis-goes-unnoticed": {
    file: "clicks/live/relay.ts",
    from: "if (now - heardAt >= silentMs) setReaches(false);",
    to: "",
    tests: live,
  },
  "live-event-with-a-line-break": {
    file: "clicks/live/relay.ts",
    from: "    !/[\\r\\n]/.test(json);",
    to: "    json.length > 0;",
    tests: live,
  },
  "live-message-for-every-batch": {
    file: "clicks/live/source.ts",
    from: "stopFlush ??= clock.after(publishMs, () => void flush());",
    to: "void flush();",
    tests: live,
  },
  "live-hits-go-back": {
    file: "clicks/live/shown-quotas.ts",
    from: "used >= last.used) return",
    to: "used >= 0) return",
    tests: ["src/clicks/live/shown-quotas.test.ts"],
  },
  "live-hits-of-the-last-month-hide-the-new-one": {
    file: "clicks/live/shown-quotas.ts",
    from: "const key = `${month} ${link}`;",
    to: "const key = link;",
    tests: ["src/clicks/live/shown-quotas.test.ts"],
  },
  "live-new-limit-with-old-hits": {
    file: "clicks/live/shown-quotas.ts",
    from: "return { key, used: last.used, limit,",
    to: "return { key, used, limit,",
    tests: ["src/clicks/live/shown-quotas.test.ts"],
  },
  "live-shown-hits-are-forgotten": {
    file: "clicks/live/room.ts",
    from: "        shownQuotas.keep(quota);\n",
    to: "",
    tests: live,
  },
  "live-end-of-an-outage-for-those-who-came-later": {
    file: "clicks/live/live.ts",
    from: "if (reader.isToldAway === !reaches) return;",
    to: "",
    tests: live,
  },
  "live-outage-not-told-to-those-who-come": {
    file: "clicks/live/live.ts",
    from: "      if (relay?.reaches === false) tellReach(reader, false);\n",
    to: "",
    tests: live,
  },
};
