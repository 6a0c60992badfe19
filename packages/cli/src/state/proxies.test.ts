import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { answerWith, sharedWireServer, startProgram, temporaryFolder } from "@toolcrib/testing";
import { expect, onTestFinished, test } from "vitest";
import { bin } from "../../fixtures/command.ts";

const wire = await sharedWireServer();

test("a model elsewhere is asked through the proxy that the environment names, and one on this machine directly", async () => {
  const asked: string[] = [];
  const proxy = createServer().on("connect", (request, socket) => {
    asked.push(request.url ?? "");
    const service = connect(Number(new URL(wire.url).port), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      service.pipe(socket).pipe(service);
    });
  });
  await new Promise<void>((listening) => proxy.listen(0, "127.0.0.1", listening));
  onTestFinished(() => void proxy.close());
  const folder = temporaryFolder("proxies");
  const env = { HOME: folder, HTTP_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
  for (const url of ["http://model.test", wire.url]) {
    wire.script(answerWith({ text: `At ${url}.` }));
    const args = ["run", "hello", "-m", "openai-compatible/m", "--base-url", `${url}/v1`];
    const end = await startProgram(bin, args, { cwd: folder, env }).ended;
    expect(end).toMatchObject({ code: 0, stdout: `At ${url}.\n` });
  }
  expect(asked).toEqual(["model.test:80"]);
});

test("an address that Node cannot use ends nothing, and doctor names the variable", async () => {
  const folder = temporaryFolder("proxies");
  const env = { HOME: folder, https_proxy: "socks5://127.0.0.1:1080" };
  const end = await startProgram(bin, ["doctor"], { cwd: folder, env }).ended;
  expect(end.stdout).toContain("https_proxy is set, but it is not used");
});
