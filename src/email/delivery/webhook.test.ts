import { expect, test } from "bun:test";
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { manualClock } from "../../base/clock.ts";
import { newId } from "../../base/ids.ts";
import { createMemoryCounters } from "../../in-memory/counters.ts";
import { createGuesses } from "../../limits/guesses.ts";
import { defaultSwitches } from "../settings/notice-kinds.ts";
import { createWebhook } from "./webhook.ts";

const clock = manualClock(1_763_287_200_000);
const tenant = newId("tenant", clock);
const secret = "s".repeat(32);
const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const perMinute = 5;

/** What a request asks the database for. */
function open() {
  const asked = { settings: 0, emails: 0 };
  const guesses = createGuesses({
    counters: createMemoryCounters({ clock }),
    perMinute,
    clock,
    secretFor: () => new Uint8Array(32),
  });
  const webhook = createWebhook({
    deliveries: {
      async find() {
        asked.emails++;
        return [];
      },
      apply: async () => 0,
    },
    settings: {
      async of() {
        asked.settings++;
        const webhookKey = publicKey.export({ format: "der", type: "spki" }).toString("base64");
        return {
          ...{ contact: null, sender: null, sendgrid: null, webhookKey, webhookSecret: secret },
          notices: defaultSwitches,
        };
      },
    },
    guesses,
    clock,
  });
  const send = async (place: string, key: KeyObject, address: string) => {
    const body = JSON.stringify(Array.from({ length: 5_000 }, (_, i) => ({ event: "bounce", sg_message_id: `m${i}` })));
    const timestamp = String(clock.now() / 1_000);
    const headers = {
      "x-twilio-email-event-webhook-signature": sign("sha256", Buffer.from(timestamp + body), key).toString("base64"),
      "x-twilio-email-event-webhook-timestamp": timestamp,
    };
    const request = new Request("http://localhost/", { method: "POST", headers, body });
    return { request, status: (await webhook(request, place, address)).status };
  };
  return { asked, send };
}

const stranger = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;

test("no message id is looked up for a stranger, and a wrong path is not even read", async () => {
  const { asked, send } = open();
  const wrongPath = await send(`${tenant}/${"x".repeat(32)}`, stranger, "192.0.2.1");
  expect([wrongPath.status, wrongPath.request.bodyUsed]).toEqual([404, false]);
  expect((await send("sendgrid", stranger, "192.0.2.1")).status).toBe(404);
  expect(asked).toEqual({ settings: 1, emails: 0 });
  expect((await send(`${tenant}/${secret}`, stranger, "192.0.2.1")).status).toBe(403);
  expect(asked).toEqual({ settings: 2, emails: 0 });
  expect((await send(`${tenant}/${secret}`, privateKey, "192.0.2.1")).status).toBe(204);
  expect(asked.emails).toBe(1);
});

test("misses count as guesses of their address, and do not shut out what is signed", async () => {
  const { send } = open();
  const statuses: number[] = [];
  for (let i = 0; i < perMinute; i++) statuses.push((await send("sendgrid", stranger, "192.0.2.1")).status);
  expect(statuses).toEqual(Array(perMinute).fill(404));
  for (const place of ["sendgrid", `${tenant}/${secret}`]) {
    expect((await send(place, stranger, "192.0.2.1")).status).toBe(429);
  }
  expect((await send("sendgrid", stranger, "198.51.100.1")).status).toBe(404);
  // SendGrid's own addresses are shared by all of its customers.
  expect((await send(`${tenant}/${secret}`, privateKey, "192.0.2.1")).status).toBe(204);
});
