/** The lag of a replica is visible, and so is a replica that stopped replaying. */
import { expect, test } from "bun:test";
import { postgresAvailable, startPostgres, startReplica } from "../ground/postgres.ts";
import { until } from "../ground/process.ts";
import { cli, startServer } from "../ground/server.ts";
import { tempFolder } from "../ground/temp.ts";
import { metric, must } from "./servers.ts";

if (postgresAvailable()) {
  test("the lag of a replica grows while its replay is paused, and falls when it continues", async () => {
    const primary = await startPostgres();
    const DATABASE_URL = await primary.createDatabase("replica");
    const env = { DATABASE_URL, QL_CODE_SALT: "a salt for replicas", QL_DATA: tempFolder("data") };
    must(await cli(["migrate"], { env }));
    const replica = await startReplica(primary);
    const DATABASE_REPLICA_URL = DATABASE_URL.replace(`:${primary.port}/`, `:${replica.port}/`);
    const server = await startServer({ env: { ...env, DATABASE_REPLICA_URL } });
    const lag = async () => {
      const text = await (await fetch(`${server.url}/metrics`)).text();
      return /^quicklink_replica_lag_seconds \d/m.test(text)
        ? metric(text, "quicklink_replica_lag_seconds")
        : undefined;
    };
    const idle = await until("the lag to be known", lag, 20_000);
    await replica.pauseReplay();
    // More than any pause between two writes of a server that is well.
    const behind = await until(
      "it to be behind",
      async () => {
        const now = await lag();
        return now !== undefined && now > idle + 6 ? now : undefined;
      },
      40_000,
    );
    await replica.resumeReplay();
    await until("it to catch up", async () => ((await lag()) ?? behind) < behind - 3 || undefined, 40_000);
    expect(await server.stop()).toBe(0);
    await replica.stop();
    await primary.stop();
  }, 120_000);
}
