import type { Provider } from "@toolcrib/agent";
import { hasPostgres } from "@toolcrib/testing/postgres";
import { describe, expect, test } from "vitest";
import { shareServer } from "../../fixtures/runs.ts";

const { openRuns, work } = shareServer();

/** A model whose requests end when the test says so. */
class HeldProvider implements Provider {
  readonly name = "held";
  readonly model = "held";
  readonly begun: string[] = [];
  inFlight = 0;
  most = 0;
  #release: (() => void)[] = [];

  async *send({ messages, signal }: Parameters<Provider["send"]>[0]): ReturnType<Provider["send"]> {
    const block = messages[0]?.role === "user" ? messages[0].content[0] : undefined;
    const text = block?.type === "text" ? block.text : "";
    this.begun.push(text);
    this.inFlight += 1;
    this.most = Math.max(this.most, this.inFlight);
    await new Promise<void>((resolve) => {
      this.#release.push(resolve);
      signal.addEventListener("abort", () => resolve());
    });
    this.inFlight -= 1;
    yield { type: "reply", message: { role: "assistant", content: [{ type: "text", text }] }, stop: "stop" };
  }

  /** Ends one request at a time, the oldest first, until so many have begun. */
  async releaseUntil(begun: number): Promise<void> {
    await expect
      .poll(() => {
        if (this.begun.length < begun) this.#release.shift()?.();
        return this.begun.length;
      })
      .toBe(begun);
    for (const release of this.#release.splice(0)) release();
  }
}

describe.skipIf(!hasPostgres)("limits", () => {
  test("requests to a provider stay within its limit, whatever the number of turns", async () => {
    const provider = new HeldProvider();
    const runs = await work({ provider }, { limits: { providers: { held: { concurrency: 2 } } } });
    const ids = await Promise.all([1, 2, 3, 4, 5].map((text) => runs.start("helper", `${text}`)));
    await expect.poll(async () => (await runs.list({ status: "running" })).length).toBe(5);
    await expect.poll(() => provider.inFlight).toBe(2);
    await provider.releaseUntil(5);
    await Promise.all(ids.map((id) => runs.result(id)));
    expect(provider.most).toBe(2);
  });

  test("no more requests begin in a minute than the provider allows, and others are not held up", async () => {
    const [provider, other] = [new HeldProvider(), Object.assign(new HeldProvider(), { name: "other" })];
    const agents = { helper: { provider }, other: { provider: other } };
    const runs = await openRuns({ agents, limits: { providers: { held: { perMinute: 2 } } } });
    await runs.work();
    for (const text of ["1", "2", "3"]) await runs.start("helper", text);
    await provider.releaseUntil(2);
    const id = await runs.start("other", "free");
    await other.releaseUntil(1);
    expect(await runs.result(id)).toBe("free");
    expect(provider.begun).toHaveLength(2);
    await expect.poll(async () => (await runs.list({ status: "running" })).length).toBe(1);
  });

  test("a tenant takes no more turns at once than its limit, and leaves the others theirs", async () => {
    const provider = new HeldProvider();
    const runs = await work({ provider }, { limits: { tenant: { concurrency: 2 } } });
    const ids: string[] = [];
    for (const text of ["a1", "a2", "a3", "a4"]) ids.push(await runs.start("helper", text, { tenant: "a" }));
    ids.push(await runs.start("helper", "b1", { tenant: "b" }), await runs.start("helper", "none"));
    await expect.poll(() => provider.begun.length).toBe(4);
    expect([...provider.begun].sort()).toEqual(["a1", "a2", "b1", "none"]);
    await provider.releaseUntil(6);
    await Promise.all(ids.map((id) => runs.result(id)));
    // Where both places are free at once, either may take the first.
    expect(provider.begun.slice(4).sort()).toEqual(["a3", "a4"]);
  });

  test("a higher priority starts sooner, and equal ones in their order", async () => {
    const provider = new HeldProvider();
    const agents = { helper: { provider } };
    const runs = await openRuns({ agents, limits: { worker: { concurrency: 1 } } });
    const ids: string[] = [];
    for (const [text, priority] of [
      ["low", -5],
      ["first", 0],
      ["second", 0],
      ["high", 10],
    ] as const)
      ids.push(await runs.start("helper", text, { priority }));
    await runs.work();
    await provider.releaseUntil(4);
    await Promise.all(ids.map((id) => runs.result(id)));
    expect(provider.begun).toEqual(["high", "first", "second", "low"]);
    expect(provider.most).toBe(1);
  });
});
