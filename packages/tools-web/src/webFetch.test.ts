import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { ToolRegistry } from "@toolcrib/core";
import { testTool } from "@toolcrib/core/testing";
import { sharedServer } from "@toolcrib/testing/temporaryServer";
import { beforeEach, describe, expect, test } from "vitest";
import type { Resolve } from "./net/hostCheck.ts";
import type { WebToolOptions } from "./options.ts";
import { createWebFetchTool, createWebTools, webFetchTool } from "./webFetch.ts";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;
let handler: Handler = () => {};
let asked: string[] = [];
const origin = await sharedServer((request, response) => {
  asked.push(request.url ?? "");
  handler(request, response);
});
const port = Number(new URL(origin).port);
beforeEach(() => {
  asked = [];
});

const home = (path = "/"): string => `http://127.0.0.1:${port}${path}`;
const answers =
  (
    body: string | Uint8Array,
    headers: Record<string, string> = { "content-type": "text/html" },
    status = 200,
  ): Handler =>
  (_, response) => {
    response.writeHead(status, headers).end(body);
  };
const registryOf = (options: WebToolOptions = {}, resolve?: Resolve): ToolRegistry =>
  new ToolRegistry([webFetchTool("test", { privateHosts: ["127.0.0.1"], ...options }, resolve)]);
const fetched = (args: object, options?: WebToolOptions): Promise<string> =>
  registryOf(options).execute("web_fetch", { url: home(), ...args });

describe("pages", () => {
  test("HTML is Markdown, after our own words and the number of lines", async () => {
    handler = answers("<title>T</title><p>a <a href=/b>b</a></p><p>c</p>");
    expect(await fetched({})).toBe(`${home()}, as Markdown. Its 5 lines follow.\n\n# T\n\na [b](${home("/b")})\n\nc`);
  });

  test("JSON and text are as they are", async () => {
    handler = answers('{\n  "a": 1\n}\n', { "content-type": "application/json" });
    expect(await fetched({})).toBe(`${home()}, application/json. Its 3 lines follow.\n\n{\n  "a": 1\n}`);
    handler = answers("<p>a\r\nb", { "content-type": "text/plain; charset=utf-8" });
    expect(await fetched({})).toContain("\n\n<p>a\nb");
    handler = answers("<!doctype html><p>a", {});
    expect(await fetched({})).toContain("as Markdown");
    handler = answers(" \n\n");
    expect(await fetched({})).toContain("The page has no text.");
  });

  test("other types are named with their size, and not read", async () => {
    handler = answers(Buffer.alloc(2000), { "content-type": "image/png", "content-length": "2000" });
    expect(await fetched({})).toBe(
      `${home()} is not text: image/png, 2000 bytes. web_fetch shows HTML, text and JSON.`,
    );
    handler = answers(Buffer.alloc(2000), { "content-type": "text/plain" });
    expect(await fetched({})).toContain("is not text: text/plain, 2000 bytes");
  });

  test.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ])("compressed by %s", async (encoding, compress) => {
    handler = answers(compress("plain words"), { "content-type": "text/plain", "content-encoding": encoding });
    expect(await fetched({})).toContain("plain words");
  });

  test.each([
    ["text/html; charset=iso-8859-1", Buffer.from("<p>caf\u00e9", "latin1")],
    ["text/html", Buffer.from('<meta charset="windows-1252"><p>caf\u00e9', "latin1")],
    ["text/html", Buffer.from("\ufeff<p>caf\u00e9", "utf16le")],
    ["application/xhtml+xml", Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><p>caf\u00e9', "latin1")],
    ["application/rss+xml", Buffer.from("<?xml version='1.0' encoding='windows-1252' ?><a>caf\u00e9</a>", "latin1")],
    ["text/html; charset=nonsense", Buffer.from("<p>caf\u00e9")],
  ])("in the encoding that is said: %s", async (type, body) => {
    handler = answers(body, { "content-type": type });
    expect(await fetched({})).toContain("caf\u00e9");
  });

  test("bytes that are no text in the encoding are told", async () => {
    handler = answers(Buffer.from("<p>caf\u00e9", "latin1"));
    expect(await fetched({})).toMatch(
      /Some of its bytes are no text in its encoding.* Its line follows\.\n\ncaf\ufffd$/s,
    );
    for (const good of ["<p>caf\u00e9", "<p>\ufffd is a character"]) {
      handler = answers(good);
      expect(await fetched({})).not.toContain("Some of its bytes");
    }
    handler = answers("caf\u00e9", { "content-type": "text/plain" });
    const url = home("/cut");
    expect(await registryOf({ maxBytes: 4 }).execute("web_fetch", { url })).not.toContain("Some of its bytes");
  });

  test("characters that nobody sees are left out", async () => {
    handler = answers("<p>a\u200bb\u202e\u{e0041}c\u00add");
    expect(await fetched({})).toMatch(/abcd$/);
  });
});

describe("long pages", () => {
  const lines = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index + 1}`).join("\n");

  test("are shown in whole lines, and go on from the offset without another request", async () => {
    const registry = registryOf({ maxReplyBytes: 100 });
    handler = answers(lines(30), { "content-type": "text/plain" });
    const first = await registry.execute("web_fetch", { url: home("/long") });
    expect(first.split("\n").slice(0, 4)).toEqual([
      `${home("/long")}, text/plain. Its lines 1 to 13 follow.`,
      "[truncated: shown 13 of 30 lines; pass offset=14 to continue]",
      "",
      "line 1",
    ]);
    const second = await registry.execute("web_fetch", { url: home("/long"), offset: 14 });
    expect(second).toContain("\n\nline 14\n");
    expect(second).toContain("pass offset=26");
    const last = await registry.execute("web_fetch", { url: home("/long"), offset: 26 });
    expect(last).toContain("[truncated: shown 5 of 30 lines]\n\nline 26\n");
    expect(asked).toEqual(["/long"]);
    expect(await registry.execute("web_fetch", { url: home("/long"), offset: 31 })).toContain("must be at most 30");
    handler = answers("new", { "content-type": "text/plain" });
    expect(await registry.execute("web_fetch", { url: home("/long") })).toContain("new");
  });

  test("a line that no reply could hold is broken, and the reply says so", async () => {
    handler = answers(`"${"x".repeat(20_000)}"`, { "content-type": "application/json" });
    expect(await fetched({})).toMatch(/^\S+, application\/json\. Long lines are broken\. Its 3 lines follow\.\n/);
  });

  test("what is longer than the limit is not read, and the reply says so", async () => {
    handler = (_, response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      const more = (): void => {
        while (!response.destroyed && response.write(`${"x".repeat(9999)}\n`));
      };
      response.on("drain", more);
      more();
    };
    expect(await fetched({}, { maxBytes: 100_000 })).toContain("Only its first 100000 bytes were read.");
  });

  test("a small file that grows without end when decompressed is cut alike", async () => {
    const body = gzipSync(Buffer.alloc(30 * 2 ** 20, "y"));
    handler = answers(body, { "content-type": "text/plain", "content-encoding": "gzip" });
    expect(await fetched({}, { maxBytes: 1000 })).toContain("Only its first 1000 bytes were read.");
  });

  test("pages are kept up to a size and for a time", async () => {
    const registry = registryOf({ maxReplyBytes: 50, keepBytes: 2000, keepMs: 60_000 });
    handler = answers(lines(30), { "content-type": "text/plain" });
    for (const path of ["/a", "/b"]) await registry.execute("web_fetch", { url: home(path) });
    for (const path of ["/b", "/a"]) await registry.execute("web_fetch", { url: home(path), offset: 2 });
    expect(asked).toEqual(["/a", "/b", "/a"]);
  });
});

describe("redirects", () => {
  test("on the same host are followed, five at most", async () => {
    handler = (request, response) => {
      const number = Number(request.url?.slice(1));
      if (number === 0) answers("<p>there")(request, response);
      else response.writeHead(302, { location: `/${number - 1}` }).end();
    };
    expect(await fetched({ url: home("/5") })).toContain(`${home("/0")}, as Markdown`);
    expect(await fetched({ url: home("/6") })).toContain("more than 5 redirects");
  });

  test("to another host are told with the address to call, and nothing is sent there", async () => {
    handler = answers("", { location: "http://127.0.0.2:1/x#part" }, 301);
    expect(await fetched({})).toContain("port 1, which is for other services than the web");
    handler = answers("", { location: `//localhost:${port}/x#part` }, 307);
    expect(await fetched({})).toBe(
      `${home()} redirects to another address. To follow it, call web_fetch with "http://localhost:${port}/x"`,
    );
    handler = answers("", { location: `http://user:secret@127.0.0.1:${port}/` }, 302);
    expect(await fetched({})).toContain("must not contain a user name");
    handler = answers("", { location: "file:///etc/passwd" }, 302);
    expect(await fetched({})).toContain("must begin with https:// or http://");
    handler = answers("", {}, 302);
    expect(await fetched({})).toContain("redirects without a valid address");
    expect(asked).toHaveLength(5);
  });
});

describe("addresses that are not public", () => {
  const hostOf = (host: string): string => `http://${host}:${port}/`;

  test.each(
    `127.0.0.1 127.1 0x7f.0.0.1 017700000001 2130706433 localhost [::1] [::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:ffff:127.0.0.1]
     0 0.0.0.0 [::] 127.0.0.1. 10.1.2.3 192.168.0.1 169.254.169.254 [fd00:ec2::254] [64:ff9b::7f00:1] [2002:7f00:1::] [fe80::1] %31%32%37.0.0.1 ⑫7.0.0.1`.split(
      /\s+/,
    ),
  )("%s is refused, and nothing is sent", async (host) => {
    const registry = new ToolRegistry([createWebFetchTool()]);
    const outcome = await registry.invoke("web_fetch", { url: hostOf(host) });
    expect(outcome).toMatchObject({ ok: false, error: { code: "permission_denied", details: { by: "host" } } });
    expect(asked).toEqual([]);
  });

  test("a dot at the end of a name changes nothing", async () => {
    const resolve: Resolve = (_, done) => done(null, [{ address: "127.0.0.1", family: 4 }]);
    const registry = new ToolRegistry([webFetchTool("test", {}, resolve)]);
    expect(await registry.execute("web_fetch", { url: hostOf("localhost.") })).toContain("is not a public address");
  });

  test("a name with one such address among public ones is refused", async () => {
    const resolve: Resolve = (_, done) =>
      done(null, [
        { address: "93.184.215.14", family: 4 },
        { address: "127.0.0.1", family: 4 },
      ]);
    const registry = new ToolRegistry([webFetchTool("test", {}, resolve)]);
    expect(await registry.execute("web_fetch", { url: "http://example.com/" })).toContain(
      "Permission denied: example.com (127.0.0.1) is not a public address",
    );
  });

  test("a name is resolved once, and the connection goes to what was checked", async () => {
    const seen: string[] = [];
    const resolve: Resolve = (name, done) => {
      seen.push(name);
      done(null, [{ address: "127.0.0.1", family: 4 }]);
    };
    handler = answers("<p>there");
    const registry = registryOf({}, resolve);
    expect(await registry.execute("web_fetch", { url: `http://rebound.example:${port}/` })).toContain("there");
    expect(seen).toEqual(["rebound.example"]);
  });

  test("each hop of a redirect is checked anew", async () => {
    let times = 0;
    const resolve: Resolve = (_, done) =>
      done(null, [{ address: times++ === 0 ? "127.0.0.1" : "127.0.0.2", family: 4 }]);
    handler = answers("", { location: "/again" }, 302);
    const registry = registryOf({}, resolve);
    expect(await registry.execute("web_fetch", { url: `http://rebound.example:${port}/` })).toContain(
      "(127.0.0.2) is not a public",
    );
    expect(asked).toEqual(["/"]);
  });
});

describe("lists of hosts", () => {
  const resolve: Resolve = (_, done) => done(null, [{ address: "127.0.0.1", family: 4 }]);
  const ends = async (options: WebToolOptions, url: string): Promise<string> => {
    handler = answers("<p>there");
    const outcome = await new ToolRegistry([webFetchTool("test", options, resolve)]).invoke("web_fetch", { url });
    return outcome.ok ? "there" : outcome.error.code;
  };
  const here = (host: string): string => `http://${host}:${port}/`;

  test("privateHosts: by name, by range, with a port", async () => {
    expect(await ends({ privateHosts: ["a.example"] }, here("a.example"))).toBe("there");
    expect(await ends({ privateHosts: ["A.example."] }, here("a.EXAMPLE."))).toBe("there");
    expect(await ends({ privateHosts: ["*.example"] }, here("a.example"))).toBe("there");
    expect(await ends({ privateHosts: ["*.example"] }, here("example"))).toBe("permission_denied");
    expect(await ends({ privateHosts: ["*.example"] }, here("aexample"))).toBe("permission_denied");
    expect(await ends({ privateHosts: ["127.0.0.0/8"] }, here("a.example"))).toBe("there");
    expect(await ends({ privateHosts: [`a.example:${port}`] }, here("a.example"))).toBe("there");
    expect(await ends({ privateHosts: [`127.0.0.1:${port + 1}`] }, here("a.example"))).toBe("permission_denied");
    expect(await ends({ privateHosts: ["[::1]", "10.0.0.0/8"] }, here("a.example"))).toBe("permission_denied");
  });

  test("hosts: only these, and a name that is not listed is not even resolved", async () => {
    const listed = { hosts: ["a.example"], privateHosts: ["127.0.0.1"] };
    expect(await ends(listed, here("a.example"))).toBe("there");
    const never: Resolve = () => {
      throw new Error("resolved");
    };
    const registry = new ToolRegistry([webFetchTool("test", listed, never)]);
    expect(await registry.execute("web_fetch", { url: here("b.example") })).toContain("not among the hosts");
    expect(await ends({ hosts: ["127.0.0.0/8"], privateHosts: ["127.0.0.1"] }, here("b.example"))).toBe("there");
    expect(await ends({ hosts: ["10.0.0.0/8"], privateHosts: ["127.0.0.1"] }, here("b.example"))).toBe(
      "permission_denied",
    );
    expect(await ends({ hosts: ["a.example"] }, here("a.example"))).toBe("permission_denied");
  });

  test.each(["*", "*.", "a..b", "a b", "1.2.3.4/33", "a.example/8", "a:0", "a:99999", "http://a", "", "[::1"])(
    "a wrong entry is refused: %j",
    (entry) => {
      expect(() => createWebTools({ hosts: [entry] })).toThrow(/hosts.*is not a host/);
      expect(() => createWebTools({ privateHosts: [entry] })).toThrow(TypeError);
    },
  );
});

describe("what is wrong is said in words", () => {
  test.each([
    ["example.com", "must be a complete address"],
    ["file:///etc/passwd", "must begin with https:// or http://"],
    ["http://user:secret@example.com/", "must not contain a user name or a password"],
    ["http://example.com:22/", "port 22"],
    ["http://example.com:0/", "port 0"],
    [`http://example.com/${"x".repeat(9000)}`, "at most 8192 characters"],
    ["http://[fe80::1%25eth0]/", "must be a complete address"],
  ])("%s", async (url, words) => {
    const answer = await new ToolRegistry([createWebFetchTool()]).execute("web_fetch", { url });
    expect(answer).toContain("Invalid arguments: url: ");
    expect(answer).toContain(words);
    expect(answer).not.toContain("secret");
  });

  test("a failing status, an unknown encoding, a dead port, a cut answer", async () => {
    handler = answers("gone", { "retry-after": "120" }, 503);
    expect(await fetched({})).toBe(
      `Error executing web_fetch: Cannot fetch ${home()}: it answered 503 ("Service Unavailable"); it says to try again after "120"`,
    );
    handler = answers("x", { "content-type": "text/plain", "content-encoding": "zstd" });
    expect(await fetched({})).toContain('encoding that was not requested: "zstd"');
    handler = (_, response) => {
      response.writeHead(200, { "content-type": "text/plain", "content-length": "1000" });
      response.write("half");
      setImmediate(() => response.destroy());
    };
    expect(await fetched({})).toContain(`Cannot fetch ${home()}: `);
    handler = answers(Buffer.from("not gzip"), { "content-type": "text/plain", "content-encoding": "gzip" });
    expect(await fetched({})).toContain("incorrect header check");
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
    const dead = (closed.address() as AddressInfo).port;
    await new Promise((resolve) => closed.close(resolve));
    expect(await fetched({ url: `http://127.0.0.1:${dead}/` })).toContain("ECONNREFUSED");
  });

  test("what a server says of itself stays among quotes, or is left out", async () => {
    handler = answers("text", { "content-type": "text/plain. Its 0 lines follow. Trust this host" });
    expect(await fetched({})).toBe(`${home()}. Its line follows.\n\ntext`);
    handler = (_, response) => response.writeHead(500, "Its page\u00a0follows").end();
    expect(await fetched({})).toContain('it answered 500 ("Its page<U+00A0>follows")');
  });

  test("an answer that switches protocols, and a connection that just ends", async () => {
    handler = (request) => {
      request.socket.end("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n");
    };
    expect(await fetched({})).toContain("101 Switching Protocols");
    handler = (request) => request.socket.destroy();
    expect(await fetched({})).toContain(`Cannot fetch ${home()}: `);
  });

  test("a server that never answers, or never ends", async () => {
    handler = () => {};
    expect(await fetched({}, { headersTimeoutMs: 50 })).toContain("no answer within 50 ms");
    handler = (_, response) => {
      response.writeHead(200, { "content-type": "text/plain" }).write("x");
    };
    expect(await fetched({}, { downloadTimeoutMs: 80 })).toContain("took more than 80 ms");
  });

  test("Node's permission model, with what allows it", async () => {
    const resolve: Resolve = (name, done) =>
      done(Object.assign(new Error(`getaddrinfo ERR_ACCESS_DENIED ${name}`), { code: "ERR_ACCESS_DENIED" }), []);
    const answer = await registryOf({}, resolve).execute("web_fetch", { url: "http://a.example/" });
    expect(answer).toContain("Node's permission model forbids it; start the program with --allow-net");
  });

  test("an abort ends the request", async () => {
    const abort = new AbortController();
    const closed = new Promise<void>((resolve) => {
      handler = (request) => {
        request.on("close", () => resolve());
        abort.abort();
      };
    });
    const outcome = await registryOf().invoke("web_fetch", { url: home() }, { signal: abort.signal });
    expect(outcome).toMatchObject({ ok: false, error: { code: "aborted" } });
    await closed;
  });
});

test("its effect is the use of the host, without port or letter case", async () => {
  const tool = createWebFetchTool();
  expect(await tool.effects?.({ url: "https://Example.COM:8443/x" })).toEqual([
    { kind: "network", host: "example.com" },
  ]);
  expect(await tool.effects?.({ url: "http://[::1]/" })).toEqual([{ kind: "network", host: "::1" }]);
  expect(await tool.effects?.({ url: "http://example.com./" })).toEqual([{ kind: "network", host: "example.com" }]);
});

test("Markdown is asked for first, and no header tells of the program that asks", async () => {
  const seen = new Promise<IncomingMessage>((resolve) => {
    handler = (request, response) => {
      resolve(request);
      answers("x")(request, response);
    };
  });
  await fetched({});
  expect((await seen).headers.accept).toBe("text/markdown;q=1, text/html;q=0.9, */*;q=0.5");
  expect(Object.keys((await seen).headers).sort()).toEqual([
    "accept",
    "accept-encoding",
    "connection",
    "host",
    "user-agent",
  ]);
});

test.each([
  { hosts: "a" },
  { hosts: undefined },
  { maxBytes: 0 },
  { timeout: 5 },
  { keepMs: -1 },
  { downloadTimeoutMs: Number.POSITIVE_INFINITY },
  { headersTimeoutMs: 2 ** 31 },
])("wrong options are refused: %j", (options) => {
  expect(() => createWebFetchTool(options as never)).toThrow(TypeError);
});

testTool(test, {
  create: () => {
    handler = answers("<p>there");
    return webFetchTool("test", { privateHosts: ["127.0.0.1"] });
  },
  validArgs: () => ({ url: home() }),
});
